"""One-time codes, with which people choose a password."""

from uuid import UUID

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from typing_extensions import override

from invoicing.administration.people import may_change_people
from invoicing.errors import CodeInvalidError
from invoicing.models import User
from invoicing.rights import is_owner, may_change_sign_in


class _CodeGenerator(PasswordResetTokenGenerator):
    """Makes codes as MACs over the facts on which they depend, so that none is stored.

    A code ends when it is used, when the password changes otherwise, the sessions end, the person
    signs in, is deactivated, becomes the owner or ceases to be, and after PASSWORD_RESET_TIMEOUT.
    """

    key_salt = "invoicing.one_time_code"

    def __init__(self, maker: str) -> None:
        super().__init__()
        self.maker = maker

    @override
    def _make_hash_value(self, user: User, timestamp: int) -> str:
        facts = (user.session_revision, user.is_active, is_owner(user), self.maker)
        return f"{super()._make_hash_value(user, timestamp)} {facts}"


def code_for(person: User, *, maker: User | None) -> str:
    """Return a secret with which the person can choose a password, once.

    Its form is `person.maker.token`; `maker` is empty if an operator made it at the command line.
    """
    name = _encode_id(maker.pk) if maker else ""
    return f"{_encode_id(person.pk)}.{name}.{_CodeGenerator(name).make_token(person)}"


def check_code(code: str, person: User) -> None:
    """Raise CodeInvalidError unless the code lets this person in now.

    Its maker must still be allowed to make one: otherwise it would outlive the maker's rights, and
    reach rights that the person was given since.
    """
    _, _, rest = code.partition(".")
    name, _, token = rest.partition(".")
    if not person.is_active or not _CodeGenerator(name).check_token(person, token):
        raise CodeInvalidError
    if name and not may_make_code(User.objects.get(pk=_decode_id(name)), person):
        raise CodeInvalidError


def may_make_code(maker: User, person: User) -> bool:
    return may_change_people(maker) and may_change_sign_in(maker, person)


def find_by_code(code: str) -> User:
    """Return the person whom the code lets in; raises CodeInvalidError."""
    try:
        pk = _decode_id(code.partition(".")[0])
    except ValueError:
        raise CodeInvalidError from None
    person = User.objects.filter(pk=pk).first()
    if person is None:
        raise CodeInvalidError
    check_code(code, person)
    return person


def _encode_id(pk: UUID) -> str:
    return urlsafe_base64_encode(pk.bytes)


def _decode_id(text: str) -> UUID:
    """Return the ID in a part of a code; raises ValueError."""
    return UUID(bytes=urlsafe_base64_decode(text))
