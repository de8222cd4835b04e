"""Whether the person at the page is still who signed in, asked again before a sensitive act.

Whoever has a passkey of this site confirms with it, everybody else with their password, in the
form that does the act: its view calls `confirm`, and its template shows what `ask` returns by
including "agent_access/confirmation.html". A confirmation counts for this page, this session and
this one post. An app that keeps passkeys names itself by `use_passkeys` (`agent_access.passkeys`,
where it is installed).
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from agent_access import conf
from agent_access.audit import Actor, make_origin, record_act
from agent_access.keys import to_key
from agent_access.models.audit import Transport
from agent_access.translations import Text
from agent_access.web_sessions import digest_session

__all__ = [
    "Confirmation",
    "NotConfirmedError",
    "Way",
    "ask",
    "check",
    "confirm",
    "record_refusal",
    "use_passkeys",
]

Response = TypeVar("Response", bound=HttpResponseBase)

# The fields of the form.
PASSWORD, ASSERTION = "own_password", "assertion"
PASSWORD_LENGTH = 1024
REFUSED = "confirmation:refused"
# Where a request keeps why it was not confirmed, for the page that is shown then.
REFUSAL = "agent_access_not_confirmed"


class Way(StrEnum):
    """How a person confirms."""

    NOTHING = ""
    PASSWORD = "password"  # noqa: S105  a name
    PASSKEY = "passkey"


MISSING = {
    Way.PASSWORD: _("Nothing was done yet: this needs your password as well."),
    Way.PASSKEY: _("Nothing was done yet: this needs your passkey as well."),
}
WRONG = {
    Way.PASSWORD: _("This is not your password."),
    Way.PASSKEY: _("The passkey did not confirm this page, here and now. Use it once more."),
}


class NotConfirmedError(Exception):
    """The person did not confirm the act; `told` says what they can do.

    `status` is what the page answers, and `seconds` is when they may try again. A passkey that does
    not fit is audited; a wrong password is an attempt to sign in, which a project counts and logs.
    """

    def __init__(
        self,
        told: Text,
        *,
        status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
        is_audited: bool = False,
        seconds: int = 0,
    ) -> None:
        super().__init__(str(status))
        self.told = told
        self.status = status
        self.is_audited = is_audited
        self.seconds = seconds

    def mark(self, page: Response) -> Response:
        """Return the page with the form that was refused, with its status."""
        page.status_code = self.status
        if self.seconds:
            page["Retry-After"] = str(self.seconds)
        return page


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What "agent_access/confirmation.html" needs as `confirmation`.

    `options` is where the page's script asks what the passkey is to sign. `refused` is why the form
    was just refused, if it was.
    """

    way: Way
    options: str
    refused: NotConfirmedError | None


class PasskeyKeeper(Protocol):
    """Keeps the passkeys of people."""

    def has_passkey(self, person: Any) -> bool:
        """Return whether the person has a passkey that they can use at this site."""

    def options_address(self, page: str) -> str:
        """Return where a script gets what a passkey is to sign, for the page with this digest."""

    def is_confirmed(self, person: Any, assertion: str, *, page: str, session: str) -> bool:
        """Return whether the assertion confirms this page in this session, and use it up."""


_keepers: list[PasskeyKeeper] = []


def use_passkeys(keeper: PasskeyKeeper) -> None:
    """Let people who have a passkey confirm with it and with nothing else."""
    _keepers[:] = [keeper]


def ask(request: HttpRequest) -> Confirmation:
    """Return what the form of this request's page shows."""
    way = _find_way(request.user)
    options = _keepers[0].options_address(_digest_page(request)) if way == Way.PASSKEY else ""
    return Confirmation(way=way, options=options, refused=vars(request).get(REFUSAL))


def confirm(request: HttpRequest) -> None:
    """Raise NotConfirmedError, and keep it for `ask`, unless the form sent confirms its act.

    Call it before the transaction of the act, once all else that the form says is valid.
    """
    try:
        check(request)
    except NotConfirmedError as refusal:
        record_refusal(request, refusal)
        raise


def check(request: HttpRequest) -> None:
    """Do as `confirm`, for a transaction that the refusal undoes: the caller records it after."""
    way = _find_way(request.user)
    if way == Way.NOTHING:
        return
    field = ASSERTION if way == Way.PASSKEY else PASSWORD
    sent = request.POST.get(field, "")
    if not sent:
        raise NotConfirmedError(MISSING[way])
    if way == Way.PASSKEY:
        page, session = _digest_page(request), digest_session(request)
        is_confirmed = _keepers[0].is_confirmed(request.user, sent, page=page, session=session)
    else:
        is_short = len(sent) <= PASSWORD_LENGTH
        is_confirmed = is_short and conf.policy().check_password(request, sent)
    if not is_confirmed:
        raise NotConfirmedError(WRONG[way], is_audited=way == Way.PASSKEY)


def record_refusal(request: HttpRequest, refusal: NotConfirmedError) -> None:
    """Keep why for the page that is shown then, and audit what has to be."""
    vars(request)[REFUSAL] = refusal
    if not refusal.is_audited:
        return
    actor = Actor(make_origin(Transport.WEB), to_key(request.user.pk))
    with transaction.atomic():
        record_act(REFUSED, actor, outcome="refused", detail=_find_way(request.user))


def _find_way(person: Any) -> Way:
    if _keepers and _keepers[0].has_passkey(person):
        return Way.PASSKEY
    return Way.PASSWORD if conf.policy().confirms_by_password(person) else Way.NOTHING


def _digest_page(request: HttpRequest) -> str:
    """Return, in hexadecimal, what stands for the page's address with its query."""
    return hashlib.sha256(request.get_full_path().encode()).hexdigest()
