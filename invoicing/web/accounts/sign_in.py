"""Signing in and out."""

from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from invoicing.administration.passkeys import has_passkey
from invoicing.models import Company, User
from invoicing.passkey_rule import has_come, required_from
from invoicing.visits import SignInOutcome, note_attempt
from invoicing.web.accounts.devices import find_device, remember_device
from invoicing.web.accounts.limits import (
    AttemptRefusedError,
    LimitReachedError,
    answer_refused,
    count_attempt,
    refund_attempt,
)
from invoicing.web.accounts.next_page import next_path
from invoicing.web.accounts.password_forms import password_field
from invoicing.web.accounts.preferences import ask_at_first
from invoicing.web.auditors import always_for_auditors
from invoicing.web.late_forms import keeps_typed_at, read_late_form, show_late_form

# The query parameter with which the page says that a button was pressed too late.
LATE = "late"


class SignInForm(forms.Form):
    """Its fields have the names that password managers and scripts look for."""

    username = forms.CharField(
        label=_("Work e-mail"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username webauthn", "autofocus": True}),
    )
    password = password_field(_("Password"), is_new=False)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        if request.user.is_authenticated:
            return continue_after_sign_in(request)
        return show_sign_in(request, SignInForm())
    return _try_to_sign_in(request, SignInForm(request.POST))


def _try_to_sign_in(request: HttpRequest, form: SignInForm) -> HttpResponse:
    device = find_device(request, form.cleaned_data["username"]) if form.is_valid() else ""
    try:
        counted = count_attempt(account=request.POST.get("username", ""), device=device)
        user = authenticate(request, **form.cleaned_data) if form.is_valid() else None
        if user is not None:
            refund_attempt(counted)
    except AttemptRefusedError as refusal:
        if isinstance(refusal, LimitReachedError):
            note_attempt(SignInOutcome.LIMITED)
        return answer_refused(refusal, partial(show_sign_in, request, form))
    if user is None:
        _note_refusal(form)
        # One sentence for every reason: nobody learns which addresses have an account.
        return show_sign_in(request, form, status=422, is_refused=True)
    if has_come(required_from()):
        return _ask_for_passkey(request, form, user)
    return open_session(request, user)


def _ask_for_passkey(request: HttpRequest, form: SignInForm, person: User) -> HttpResponse:
    """Say that the password, which is right, is too little, and whom to ask; no session is opened.

    Nothing is kept of the password: the passkey alone signs in.
    """
    note_attempt(SignInOutcome.PASSKEY_MISSING, person.pk)
    owner = Company.objects.select_related("owner").get().owner
    known = {"has_passkey": has_passkey(person), "owner": None if person == owner else owner}
    return show_sign_in(request, form, known=known)


def open_session(request: HttpRequest, person: User, **proven: Any) -> HttpResponse:
    """Sign the person in; `proven` is what their session keeps of how (sessions.py)."""
    login(request, person)
    request.session.update(proven)
    # An instant, not a duration: with that, each change of the session would put off its end.
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))
    note_attempt(SignInOutcome.SIGNED_IN, person.pk)
    response = ask_at_first(person, continue_after_sign_in(request))
    remember_device(response, person)
    return response


def continue_after_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the page that was asked for, or offer the form that was typed before."""
    path, typed = next_path(request), request.POST.get("typed")
    if typed and keeps_typed_at(path):
        return show_late_form(request, path, QueryDict(typed))
    return redirect(path)


def ask_to_sign_in_again(request: HttpRequest) -> HttpResponse:
    """Return the sign-in page for a form that was sent too late; it carries what was typed."""
    typed = read_late_form(request).urlencode()
    return show_sign_in(
        request, SignInForm(), status=HTTPStatus.FORBIDDEN, next=request.path, typed=typed
    )


def _note_refusal(form: SignInForm) -> None:
    email = User.objects.normalize_email(form.cleaned_data.get("username"))
    tried = User.objects.filter(email=email).values_list("pk", flat=True).first()
    note_attempt(SignInOutcome.REFUSED, tried)


def show_sign_in(
    request: HttpRequest, form: SignInForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    values = {
        "form": form,
        "next": next_path(request),
        "typed": request.POST.get("typed", ""),
        "is_late": LATE in request.GET,
        **context,
    }
    return render(request, "invoicing/sign_in.html", values, status=status)


@always_for_auditors
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")
