"""Signing in with a passkey, which says by itself who it is.

A challenge belongs to the browser's CSRF cookie, which changes when somebody signs in: no session
is kept for who only looks.
"""

from functools import partial

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from agent_access.database.clock import read_clock
from agent_access.passkeys.assertions import Asserted, AssertionRefusedError, verify_assertion
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.options import assertion_options
from agent_access.web_sessions import digest_session
from invoicing.models import User
from invoicing.visits import SignInOutcome, note_attempt
from invoicing.web.accounts.limits import (
    AttemptRefusedError,
    LimitReachedError,
    answer_refused,
    count_challenge,
    count_passkey,
    refund_attempt,
)
from invoicing.web.accounts.sessions import PASSKEY_HERE, WITH_PASSKEY
from invoicing.web.accounts.sign_in import SignInForm, open_session, show_sign_in

PURPOSE = "sign-in"
# The field of the form in which the page's script sends what the browser made.
ASSERTION = "assertion"


@login_not_required
@require_POST
def make_options(request: HttpRequest) -> HttpResponse:
    """Answer the page's script what a passkey is to sign (PublicKeyCredentialRequestOptions)."""
    try:
        count_challenge()
    except AttemptRefusedError as refusal:
        return answer_refused(refusal, _tell_to_wait)
    challenge = make_challenge(PURPOSE, session=digest_session(request))
    return JsonResponse({"get": assertion_options(challenge)})


def _tell_to_wait(*, status: int, minutes_to_wait: int) -> HttpResponse:
    problem = ngettext(
        "Too many attempts. Please wait %(count)d minute and try again.",
        "Too many attempts. Please wait %(count)d minutes and try again.",
        minutes_to_wait,
    ) % {"count": minutes_to_wait}
    return JsonResponse({"problem": problem}, status=status)


@login_not_required
@require_POST
def sign_in_with_passkey(request: HttpRequest) -> HttpResponse:
    show = partial(show_sign_in, request, SignInForm())
    try:
        counted = count_passkey()
        proven = _verify(request)
        if proven is not None:
            refund_attempt(counted)
    except AttemptRefusedError as refusal:
        if isinstance(refusal, LimitReachedError):
            note_attempt(SignInOutcome.LIMITED)
        return answer_refused(refusal, show)
    if proven is None:
        note_attempt(SignInOutcome.REFUSED)
        # One sentence for every reason, as for passwords.
        return show(status=422, is_passkey_refused=True)
    person, kept = proven
    return open_session(request, person, **kept)


def _verify(request: HttpRequest) -> tuple[User, dict[str, object]] | None:
    """Return whose passkey it is, and what their session keeps of it; None if it proves nothing."""
    try:
        with transaction.atomic():
            asserted = verify_assertion(
                request.POST.get(ASSERTION, ""),
                PURPOSE,
                session=digest_session(request),
                person=None,
                now=read_clock(),
            )
            person = _active_person_of(asserted)
    except AssertionRefusedError:
        return None
    here = {PASSKEY_HERE: str(asserted.passkey.pk)} if asserted.is_on_this_device else {}
    return person, {WITH_PASSKEY: True, **here}


def _active_person_of(asserted: Asserted) -> User:
    """Return whose passkey it is; raises AssertionRefusedError.

    It is locked while they are read: whoever removes it then ends this session, too.
    """
    person: User = asserted.passkey.person
    if not person.is_active:
        raise AssertionRefusedError
    return person
