"""The page on which a person changes their own password, and signs out everywhere."""

from contextlib import suppress
from functools import partial
from typing import Any

from django.contrib.auth import logout, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from invoicing.administration.acts import actor_of
from invoicing.administration.sign_ins import change_own_password, sign_out_everywhere
from invoicing.errors import ConflictError, PermissionMissingError
from invoicing.languages import pages_languages
from invoicing.models import User
from invoicing.web import passkeys, telling
from invoicing.web.accounts.devices import find_device, remember_device
from invoicing.web.accounts.limits import AttemptRefusedError, answer_refused, count_attempt
from invoicing.web.accounts.password_forms import OwnPasswordForm
from invoicing.web.accounts.preferences import SAVED
from invoicing.web.auditors import for_auditors
from invoicing.web.pages import SignedInRequest, page

CHANGED_MEANWHILE = _(
    "Your password was changed elsewhere at this moment, or you were signed out. Please check"
    " again."
)


@for_auditors
@page(methods=("GET", "POST"))
def account(request: SignedInRequest) -> HttpResponse:
    """Change the password by POST; this session goes on, all others end."""
    if request.method != "POST":
        done = {"is_changed": "changed" in request.GET, "is_saved": SAVED in request.GET}
        return _show(request, OwnPasswordForm(user=request.user), **done)
    try:
        email = request.user.email
        count_attempt(account=email, device=find_device(request, email))
    except AttemptRefusedError as refusal:
        return answer_refused(refusal, partial(_show, request, OwnPasswordForm(user=request.user)))
    return _change(request, OwnPasswordForm(request.POST, user=request.user))


def _change(request: SignedInRequest, form: OwnPasswordForm) -> HttpResponse:
    person = _write(request, form) if form.is_valid() else None
    if person is None:
        return _show(request, form, status=422)
    # Not read again: this session must end, too, if all were ended since the change.
    update_session_auth_hash(request, person)
    response = redirect(f"{reverse('account')}?changed")
    remember_device(response, person)
    return response


def _write(request: SignedInRequest, form: OwnPasswordForm) -> User | None:
    password = form.cleaned_data["password"]
    try:
        return change_own_password(actor_of(request), password, known=request.user)
    except (ConflictError, PermissionMissingError):
        form.add_error(None, CHANGED_MEANWHILE)
    except ValidationError as problem:
        form.add_error("password", problem)
    return None


def _show(
    request: SignedInRequest, form: OwnPasswordForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    values = {
        "form": form,
        "language_name": dict(pages_languages()).get(request.user.language),
        "telling": {} if request.user.is_auditor else telling.describe(request),
        "passkeys": passkeys.describe(request),
        **context,
    }
    return render(request, "invoicing/account.html", values, status=status)


@for_auditors
@page(methods=("POST",))
def end_own_sessions(request: SignedInRequest) -> HttpResponse:
    with suppress(PermissionMissingError):  # a double click: they were ended while this one waited
        sign_out_everywhere(actor_of(request), request.user.pk)
    logout(request)
    return redirect("sign-in")
