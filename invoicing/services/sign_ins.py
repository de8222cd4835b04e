"""How people sign in: passwords, one-time codes, and the revision that ends what was signed in."""

from uuid import UUID

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db.models import F
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from typing_extensions import override

from invoicing.administrators import is_owner, may_administer, may_change_sign_in
from invoicing.errors import CodeInvalidError, ConflictError
from invoicing.models import User

CHANGE_PEOPLE = "invoices.change_user"


class _CodeGenerator(PasswordResetTokenGenerator):
    """Makes codes out of what they depend on, so that none is stored.

    A code ends with its use, with any other change of the password, with the sessions, when the
    person signs in or is deactivated, becomes or ceases to be the owner, and after
    PASSWORD_RESET_TIMEOUT.
    """

    key_salt = "invoicing.one_time_code"

    def __init__(self, maker: str) -> None:
        super().__init__()
        self.maker = maker

    @override
    def _make_hash_value(self, user: User, timestamp: int) -> str:
        facts = (user.session_revision, user.is_active, is_owner(user), self.maker)
        return f"{super()._make_hash_value(user, timestamp)} {facts}"


def make_code(person: User, *, maker: User | None) -> str:
    """Return a secret with which the person may choose a password, once.

    It names who made it, or nobody for the operator.
    """
    name = _write_id(maker.pk) if maker else ""
    return f"{_write_id(person.pk)}.{name}.{_CodeGenerator(name).make_token(person)}"


def check_code(code: str, person: User) -> None:
    """Raise CodeInvalidError where the code does not, or not any more, let the person in.

    Its maker must still be allowed to make one: else it would outlive his rights, and reach those
    that the person was given since.
    """
    _, _, rest = code.partition(".")
    name, _, token = rest.partition(".")
    if not person.is_active or not _CodeGenerator(name).check_token(person, token):
        raise CodeInvalidError
    if name and not may_make_code(User.objects.get(pk=_read_id(name)), person):
        raise CodeInvalidError


def may_make_code(maker: User, person: User) -> bool:
    return may_administer(maker, CHANGE_PEOPLE) and may_change_sign_in(maker, person)


def find_by_code(code: str) -> User:
    """Return the person whose code it is; raises CodeInvalidError for everything else."""
    try:
        pk = _read_id(code.partition(".")[0])
    except ValueError:
        raise CodeInvalidError from None
    person = User.objects.filter(pk=pk).first()
    if person is None:
        raise CodeInvalidError
    check_code(code, person)
    return person


def _write_id(pk: UUID) -> str:
    return urlsafe_base64_encode(pk.bytes)


def _read_id(text: str) -> UUID:
    """Return the ID that a part of a code names; raises ValueError."""
    return UUID(bytes=urlsafe_base64_decode(text))


def raise_session_revision(person: User) -> None:
    """End the person's web sessions; whoever calls ends the connections in the same transaction.

    Raises ConflictError where they were ended at the same moment.
    """
    unchanged = User.objects.filter(pk=person.pk, session_revision=person.session_revision)
    if not unchanged.update(session_revision=F("session_revision") + 1):
        raise ConflictError
    person.session_revision += 1


def write_password(person: User, password_digest: str) -> None:
    """Keep the digest that make_password() made; raises ConflictError where it was just changed."""
    unchanged = User.objects.filter(pk=person.pk, password=person.password)
    if not unchanged.update(password=password_digest):
        raise ConflictError
    person.password = password_digest
    raise_session_revision(person)
