"""People as an operator names them: by their e-mail address."""

from django.core.management import CommandError

from invoicing.models import User


def find_person(email: str) -> User:
    """Return the person; raises CommandError."""
    try:
        return User.objects.get_by_natural_key(email)
    except User.DoesNotExist:
        raise CommandError("There is no person with this e-mail address.") from None
