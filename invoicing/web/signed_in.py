"""Nobody gets to a page without having signed in, unless it says that it is for everybody."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from typing_extensions import override

from invoicing.visits import note_visitor


class SignedInMiddleware(LoginRequiredMiddleware):
    """Django's own, which looks at the session even where nobody needs to have signed in."""

    @override
    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., Any],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        # The tools are such a place: they never ask the session who is there.
        if not getattr(view_func, "login_required", True):
            return None
        if request.user.is_authenticated:
            note_visitor(request.user.pk)
        return super().process_view(request, view_func, view_args, view_kwargs)
