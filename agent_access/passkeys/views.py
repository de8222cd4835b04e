"""The page on which people see, add, name and remove their passkeys.

A project routes to them through `urls`, or through its own decorators under the same names, and
may show `describe` with "agent_passkeys/section.html" on a page of its own that it names `page`.
"""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model, update_session_auth_hash
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import pgettext

from agent_access import approvers
from agent_access.audit import Actor, make_origin
from agent_access.keys import to_key
from agent_access.models.audit import Transport
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.confirming import PAGE as PAGE_DIGEST
from agent_access.passkeys.confirming import ask_to_confirm
from agent_access.passkeys.forms import AddForm
from agent_access.passkeys.keeping import (
    ForPurpose,
    add_passkey,
    remove_passkey,
    rename_passkey,
)
from agent_access.passkeys.models import Passkey
from agent_access.passkeys.options import assertion_options, registration_options
from agent_access.passkeys.refusals import NameInvalidError, PasskeyRefusedError
from agent_access.passkeys.sites import can_have_passkeys
from agent_access.signing import make_proof
from agent_access.web_sessions import digest_session, has_session

__all__ = ["describe"]

PAGE = "agent_passkeys:page"
# The query parameter by which the page says what was done just now.
DONE = "passkey"
ADDED, RENAMED, REMOVED = "added", "renamed", "removed"

View = Callable[..., HttpResponse]


def describe(
    request: HttpRequest, *, form: AddForm | None = None, problem: str = ""
) -> dict[str, Any]:
    """Return what "agent_passkeys/section.html" needs as `passkeys`.

    `problem` is why something was refused.
    """
    person = request.user
    kept = Passkey.objects.kept_by(person.pk)
    return {
        "form": form or AddForm(),
        "kept": [_describe(each) for each in kept],
        "is_possible": can_have_passkeys(),
        "is_owner": approvers.may_administer(person),
        "done": request.GET.get(DONE, ""),
        "problem": problem,
    }


def _describe(passkey: Passkey) -> dict[str, Any]:
    return {
        "id": passkey.pk,
        "name": passkey.name,
        "is_apart": passkey.is_apart,
        "added_at": _format_minute(passkey.added_at),
        "last_used_at": passkey.last_used_at and _format_minute(passkey.last_used_at),
    }


def _format_minute(moment: datetime) -> str:
    return format_date(localtime(moment), pgettext("format of a date", "Y-m-d H:i T"))


def show(request: HttpRequest, *, status: int = HTTPStatus.OK, **told: Any) -> HttpResponse:
    context = {"passkeys": describe(request, **told), "form": told.get("form")}
    return render(request, "agent_passkeys/page.html", context, status=status)


def changes(view: View) -> View:
    """Let a view answer POST only, in a web session, and lead all else to the page.

    What is refused is told on the page.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":  # as after signing in again
            return redirect(PAGE)
        if not has_session(request):
            raise PermissionDenied
        try:
            return view(request, *args, **kwargs)
        except (PasskeyRefusedError, NameInvalidError) as refusal:
            return show(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, problem=refusal.told())

    return guarded


def actor_of(request: HttpRequest) -> Actor:
    key = to_key(request.user.pk) if request.user.is_authenticated else None
    return Actor(make_origin(Transport.WEB), key)


@changes
def give_options(request: HttpRequest) -> HttpResponse:
    """Return, as JSON, what the page's script asks the browser for: to make or to use a passkey.

    The form says for which `purpose`, and what it is `about`: the passkey to be removed, or the key
    of the person who is to get a link.
    """
    asked: dict[str, Any] = {"session": digest_session(request), "person": request.user}
    match request.POST.get("purpose"):
        case ForPurpose.REGISTER:
            challenge = make_challenge(ForPurpose.REGISTER, **asked)
            return JsonResponse({"create": registration_options(challenge)})
        case ForPurpose.ADD:
            challenge = make_challenge(ForPurpose.ADD, **asked)
        case ForPurpose.REMOVE:
            passkey = _find_own(request, request.POST.get("about", ""))
            challenge = make_challenge(ForPurpose.REMOVE, about=str(passkey.pk), **asked)
        case ForPurpose.LINK:
            about = _find_person(request.POST.get("about", ""))
            challenge = make_challenge(ForPurpose.LINK, about=str(about.pk), **asked)
        case _:
            raise Http404
    return JsonResponse({"get": assertion_options(challenge)})


@changes
def give_confirming(request: HttpRequest) -> HttpResponse:
    """Return, as JSON, what the script of a page asks the browser for, to confirm that page's act.

    The query says for which `page`, by a digest of its address.
    """
    page = request.GET.get("page", "")
    if not PAGE_DIGEST.fullmatch(page):
        raise Http404
    challenge = ask_to_confirm(request.user, page, session=digest_session(request))
    return JsonResponse({"publicKey": assertion_options(challenge)})


def _find_own(request: HttpRequest, text: str) -> Passkey:
    try:
        pk = UUID(text)
    except ValueError:
        raise Http404 from None
    found = Passkey.objects.kept_by(request.user.pk).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _find_person(text: str) -> Any:
    users: Any = get_user_model()
    try:
        return users._default_manager.get(pk=users._meta.pk.to_python(text))  # noqa: SLF001  Django's public name for a swapped model's manager
    except (ValueError, OverflowError, ValidationError, users.DoesNotExist):
        raise Http404 from None


@changes
def add(request: HttpRequest) -> HttpResponse:
    form = AddForm(request.POST)
    if not form.is_valid():
        return show(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, form=form)
    add_passkey(
        actor_of(request),
        request.user,
        form.new,
        session=digest_session(request),
        allowed_by=form.cleaned_data["assertion"],
        session_passkey=make_proof(request).session_passkey,
    )
    return show_done(ADDED)


@changes
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    rename_passkey(actor_of(request), request.user, pk, name=request.POST.get("name", ""))
    return show_done(RENAMED)


@changes
def remove(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Remove a passkey; this session goes on, all others end."""
    person = remove_passkey(
        actor_of(request),
        request.user,
        pk,
        session=digest_session(request),
        allowed_by=request.POST.get("assertion", ""),
    )
    # Not read again: this session must end, too, if all were ended since the change.
    update_session_auth_hash(request, person)
    return show_done(REMOVED)


def show_done(what: str) -> HttpResponse:
    """Redirect to the page, which says what was done."""
    return redirect(f"{reverse(PAGE)}?{DONE}={what}#passkeys")
