"""The page on which the owner, and nobody else, chooses from when people need passkeys."""

from datetime import date
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from invoicing.administration.acts import actor_of
from invoicing.administration.passkeys import (
    earliest_day,
    has_passkey,
    people_without_passkey,
    require_passkeys,
)
from invoicing.errors import DayTooEarlyError, PasskeyMissingError, PermissionMissingError
from invoicing.models import User
from invoicing.paper.formats import format_day
from invoicing.passkey_rule import has_come, required_from
from invoicing.rights import is_owner
from invoicing.web.accounts.devices import find_device
from invoicing.web.accounts.limits import AttemptRefusedError, answer_refused, count_attempt
from invoicing.web.accounts.password_forms import check_own_password, password_field

OWNER_FIRST = "You have no passkey of your own yet. Add one first."
TOO_EARLY = "Choose {} or a later day: so everybody can still sign in and add one."


class PasskeyRuleForm(forms.Form):
    """The password proves who asks, since without the rule a password is enough to sign in."""

    day = forms.DateField(
        label="From this day (UTC)",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text="Empty: nobody needs one.",
    )
    password = password_field("Your own password", is_new=False)

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner

    def clean_password(self) -> str:
        return check_own_password(self.owner, self.cleaned_data["password"])


def choose_passkey_rule(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Ask, then require passkeys from the day; 404 for everybody but the owner."""
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404
    day = required_from()
    context |= {"title": "Passkeys", **_describe(day, owner)}

    def show(form: PasskeyRuleForm, *, status: int = 200, **more: Any) -> HttpResponse:
        values = {**context, "form": form, **more}
        return render(request, "admin/invoices/passkey_rule.html", values, status=status)

    if request.method != "POST":
        return show(PasskeyRuleForm(owner=owner, initial={"day": day}))
    try:
        count_attempt(account=owner.email, device=find_device(request, owner.email))
    except AttemptRefusedError as refusal:
        return answer_refused(refusal, partial(show, PasskeyRuleForm(owner=owner)))
    form = PasskeyRuleForm(request.POST, owner=owner)
    if form.is_valid() and _require(request, form):
        return redirect("admin:passkey-rule")
    return show(form, status=422)


def _describe(day: date | None, owner: User) -> dict[str, Any]:
    return {
        "day": format_day(day) if day else "",
        "is_required": has_come(day),
        "has_own": has_passkey(owner),
        "people": people_without_passkey(),
        "earliest": format_day(earliest_day()),
    }


def _require(request: HttpRequest, form: PasskeyRuleForm) -> bool:
    try:
        require_passkeys(actor_of(request), form.cleaned_data["day"])
    except PasskeyMissingError:
        form.add_error("day", OWNER_FIRST)
    except DayTooEarlyError:
        form.add_error("day", TOO_EARLY.format(format_day(earliest_day())))
    except PermissionMissingError:
        raise PermissionDenied from None
    return form.is_valid()
