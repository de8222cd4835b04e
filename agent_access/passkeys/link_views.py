"""The page behind a one-time link, on which somebody who has not signed in gets a passkey."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from agent_access.audit import make_origin
from agent_access.models.audit import Transport
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.forms import LinkForm
from agent_access.passkeys.keeping import ForPurpose, add_by_link
from agent_access.passkeys.links import LinkInvalidError, read_link_token
from agent_access.passkeys.options import registration_options
from agent_access.passkeys.refusals import NameInvalidError, PasskeyRefusedError, Reason
from agent_access.passkeys.sites import can_have_passkeys
from agent_access.passkeys.views import actor_of
from agent_access.throttling import count
from agent_access.translations import SentenceError
from agent_access.web_sessions import digest_session

WINDOW_SECONDS = 5 * 60
ATTEMPTS = 10
TOO_MANY = ngettext_lazy(
    "Too many attempts. Please wait %(minutes)d minute and try again.",
    "Too many attempts. Please wait %(minutes)d minutes and try again.",
    "minutes",
)


class NotTriedError(SentenceError):
    """A password that is not even tried; the message is a sentence for the person."""


def try_password(request: HttpRequest, person: Any, password: str) -> bool:
    """Return whether it is the person's; raises NotTriedError after too many attempts.

    A project that counts attempts to sign in gives `give_link_options` a function of its own.
    """
    network = make_origin(Transport.WEB).client_network
    bucket = f"{network} {person.pk}"
    spent, _left = count("passkeys.password", bucket, quota=ATTEMPTS, seconds=WINDOW_SECONDS)
    if spent > ATTEMPTS:
        raise NotTriedError(TOO_MANY, minutes=WINDOW_SECONDS // 60)
    user = authenticate(request, username=person.get_username(), password=password)
    return bool(user == person)


@login_not_required
def give_link_options(
    request: HttpRequest,
    *,
    tries: Callable[[HttpRequest, Any, str], bool] = try_password,
) -> HttpResponse:
    """Return, as JSON, what the page's script asks the browser to make, for link and password.

    `tries` says whether the password is the person's, and may raise NotTriedError.
    """
    problem = partial(_tell, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        person = read_link_token(request.POST.get("link", ""))
        if not tries(request, person, request.POST.get("password", "")):
            return problem(_("This is not your password, or your account cannot be used."))
    except LinkInvalidError:
        return problem(PasskeyRefusedError(Reason.LINK).told())
    except NotTriedError as refusal:
        return _tell(refusal.told(), status=HTTPStatus.TOO_MANY_REQUESTS)
    challenge = make_challenge(ForPurpose.RECOVER, session=digest_session(request), person=person)
    return JsonResponse({"create": registration_options(challenge)})


def _tell(problem: str, *, status: int) -> HttpResponse:
    return JsonResponse({"problem": problem}, status=status)


@login_not_required
def use_link(request: HttpRequest) -> HttpResponse:
    """Show the form; only POST uses the link."""
    if request.method != "POST":
        return _show(request, LinkForm())
    form = LinkForm(request.POST)
    if not form.is_valid():
        return _show(request, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        added = add_by_link(
            actor_of(request),
            form.new,
            session=digest_session(request),
            link=form.cleaned_data["link"],
        )
    except (PasskeyRefusedError, NameInvalidError) as refusal:
        return _show(request, form, status=HTTPStatus.UNPROCESSABLE_ENTITY, problem=refusal.told())
    if request.user == added.person:
        update_session_auth_hash(request, added.person)
        request.user = added.person  # of whom this page's head asks who is signed in
    return render(request, "agent_passkeys/link_used.html")


def _show(
    request: HttpRequest, form: LinkForm, *, status: int = HTTPStatus.OK, problem: str = ""
) -> HttpResponse:
    context = {"form": form, "problem": problem, "is_possible": can_have_passkeys()}
    return render(request, "agent_passkeys/link.html", context, status=status)
