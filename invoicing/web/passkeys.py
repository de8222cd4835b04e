"""The pages of passkeys, guarded as all pages of this application."""

from functools import partial
from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.urls import path
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods, require_POST

from agent_access.passkeys import link_views, views
from agent_access.passkeys.link_views import TOO_MANY, NotTriedError
from agent_access.passkeys.views import describe
from invoicing.models import User
from invoicing.web.accounts.devices import find_device
from invoicing.web.accounts.limits import (
    AttemptRefusedError,
    LimitReachedError,
    count_attempt,
    refund_attempt,
)
from invoicing.web.auditors import for_auditors
from invoicing.web.pages import page

__all__ = ["describe", "urlpatterns"]

UNCOUNTED = gettext_noop("Nobody can sign in at the moment. Please try again later.")


def try_password(request: HttpRequest, person: User, password: str) -> bool:
    """Return whether it is the person's, counted as signing in is; raises NotTriedError."""
    try:
        counted = count_attempt(account=person.email, device=find_device(request, person.email))
        user: Any = authenticate(request, username=person.email, password=password)
        if user == person:
            refund_attempt(counted)
    except LimitReachedError as refusal:
        raise NotTriedError(TOO_MANY, minutes=refusal.minutes) from None
    except AttemptRefusedError:
        raise NotTriedError(UNCOUNTED) from None
    return bool(user == person)


_page = page(methods=("GET", "POST"))


def _form(view: Any) -> Any:
    return for_auditors(_page(view))


_give_link_options = partial(link_views.give_link_options, tries=try_password)
urlpatterns = [
    path("account/passkeys/options", _form(views.give_options), name="options"),
    path("account/passkeys/confirm", _form(views.give_confirming), name="confirm"),
    path("account/passkeys/add", _form(views.add), name="add"),
    path("account/passkeys/<agent_access_id:pk>/rename", _form(views.rename), name="rename"),
    path("account/passkeys/<agent_access_id:pk>/remove", _form(views.remove), name="remove"),
    path(
        "passkeys/link",
        require_http_methods(["GET", "HEAD", "POST"])(link_views.use_link),
        name="link",
    ),
    path(
        "passkeys/link/options",
        login_not_required(require_POST(_give_link_options)),
        name="link-options",
    ),
]
