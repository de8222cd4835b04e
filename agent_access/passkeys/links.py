"""One-time links by which somebody gets their first passkey, or another one in place of lost ones.

None is stored: a link is a MAC over the facts on which it depends.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from typing_extensions import override

from agent_access import conf
from agent_access.passkeys.models import Passkey

__all__ = ["LinkInvalidError", "address_of", "read_link_token"]

# More than any key of a user has.
LONGEST = 500


class LinkInvalidError(Exception):
    """It lets nobody in: made up, used, too old, or its maker may not make it any more."""


class _TokenGenerator(PasswordResetTokenGenerator):
    """Makes the last part of a link.

    It ends when it is used, or a passkey is added or removed otherwise, when the sessions of the
    person end, above all with another password, and after PASSWORD_RESET_TIMEOUT.
    """

    key_salt = "agent_access.passkeys.link"

    def __init__(self, maker: str) -> None:
        super().__init__()
        self.maker = maker

    @override
    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        passkeys = Passkey.objects.filter(person=user).order_by("pk")
        facts = (
            str(user.pk),
            user.password,
            conf.policy().session_revisions(user)[0],
            self.maker,
            [(str(pk), str(at)) for pk, at in passkeys.values_list("pk", "removed_at")],
        )
        return f"{timestamp} {facts}"


def make_link_token(person: Any, maker: Any | None) -> str:
    """Return a secret with which the person, who knows their password, can add a passkey, once.

    Its form is `person.maker.token`; `maker` is None if an operator makes it at the command line.
    """
    name = _encode_key(maker.pk) if maker else ""
    return f"{_encode_key(person.pk)}.{name}.{_TokenGenerator(name).make_token(person)}"


def address_of(token: str) -> str:
    """Return the link; browsers do not send what follows the "#", so no log can keep it."""
    return f"{conf.base_url()}{reverse('agent_passkeys:link')}#{token}"


def read_link_token(text: str) -> Any:
    """Return the person whom the link lets in now; raises LinkInvalidError.

    Its maker must still be allowed to make one: otherwise it would outlive the maker's rights.
    """
    person = find_named(text)
    maker_key, _, token = text.strip().partition(".")[2].partition(".")
    if person is None or not person.is_active:
        raise LinkInvalidError
    if not _TokenGenerator(maker_key).check_token(person, token):
        raise LinkInvalidError
    maker = _find(maker_key) if maker_key else None
    if maker_key and not (maker and may_help(maker, person)):
        raise LinkInvalidError
    return person


def find_named(text: str) -> Any | None:
    """Return the person whom a link names, whether it is valid or not, or None."""
    return _find(text.strip().partition(".")[0])


def may_help(maker: Any, person: Any) -> bool:
    """Return whether the maker may give the person a link: never oneself."""
    if not maker.is_active or maker.pk == person.pk:
        return False
    return bool(conf.policy().may_help(maker, person))


def _encode_key(pk: Any) -> str:
    return urlsafe_base64_encode(str(pk).encode())


def _find(key: str) -> Any | None:
    """Return the user whose key stands in a link, or None."""
    users: Any = get_user_model()
    try:
        pk = users._meta.pk.to_python(urlsafe_base64_decode(key[:LONGEST]).decode("ascii"))
        return users._default_manager.filter(pk=pk).first()  # noqa: SLF001  Django's public name for a swapped model's manager
    except (ValueError, OverflowError, ValidationError):
        return None
