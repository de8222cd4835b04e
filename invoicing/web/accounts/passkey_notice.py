"""What every page says, before the owner's day, to somebody who has no passkey yet."""

from datetime import date
from typing import Any, NamedTuple

from django.http import HttpRequest

from invoicing.administration.passkeys import has_passkey
from invoicing.models import User
from invoicing.paper.formats import format_day
from invoicing.rights import is_owner
from invoicing.web.accounts.sessions import WITH_PASSKEY


class PasskeyNotice(NamedTuple):
    """From when the person needs one, and whether nobody can give them a link on a page."""

    day: str
    is_owner: bool


def passkey_notice(request: HttpRequest) -> dict[str, Any]:
    """Context processor: it asks nothing of the database unless the owner has chosen a day."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {}
    day: date | None = request.session.passkeys_required_from
    if day is None or WITH_PASSKEY in request.session or has_passkey(user):
        return {}
    return {"passkey_notice": PasskeyNotice(format_day(day), is_owner(user))}
