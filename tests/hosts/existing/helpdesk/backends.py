"""Signs people in by their e-mail address."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from typing_extensions import override


class EmailBackend(ModelBackend):
    @override
    def authenticate(
        self,
        request: Any,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        user = User.objects.filter(email=username).first()
        is_right = user and password and user.check_password(password)
        return user if is_right and user and self.user_can_authenticate(user) else None
