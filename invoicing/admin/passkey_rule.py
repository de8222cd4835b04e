"""The page on which the owner, and nobody else, chooses from when people need passkeys."""

from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from invoicing.admin.confirming import NotConfirmedError, ask, confirm
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

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner


def choose_passkey_rule(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Ask, then require passkeys from the day; 404 for everybody but the owner."""
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404
    day = required_from()
    context |= {"title": "Passkeys", **_describe(day, owner)}

    def show(form: PasskeyRuleForm, *, status: int = 200) -> HttpResponse:
        values = {**context, "form": form, "confirmation": ask(request)}
        return render(request, "admin/invoices/passkey_rule.html", values, status=status)

    if request.method != "POST":
        return show(PasskeyRuleForm(owner=owner, initial={"day": day}))
    form = PasskeyRuleForm(request.POST, owner=owner)
    try:
        is_done = form.is_valid() and _require(request, form)
    except NotConfirmedError as refusal:
        return refusal.mark(show(form))
    if is_done:
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
    confirm(request)
    try:
        require_passkeys(actor_of(request), form.cleaned_data["day"])
    except PasskeyMissingError:
        form.add_error("day", OWNER_FIRST)
    except DayTooEarlyError:
        form.add_error("day", TOO_EARLY.format(format_day(earliest_day())))
    except PermissionMissingError:
        raise PermissionDenied from None
    return form.is_valid()
