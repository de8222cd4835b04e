"""People who leave this project."""

from .models import User


def anonymise(person: User) -> None:
    """Forget who somebody was, and let nobody sign in or act for them any more."""
    person.username = f"gone-{person.pk}"
    person.first_name = person.last_name = person.email = ""
    person.is_active = False
    person.set_unusable_password()
    person.save()
