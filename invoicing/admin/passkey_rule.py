"""The page on which the owner, and nobody else, chooses from when people need passkeys."""

from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from invoicing.administration.passkeys import (
    ask_to_confirm,
    earliest_day,
    has_passkey,
    people_without_passkey,
    require_passkeys,
)
from invoicing.errors import (
    DayTooEarlyError,
    PasskeyMissingError,
    PasskeyNotUsedError,
    PermissionMissingError,
)
from invoicing.models import User
from invoicing.paper.formats import format_day
from invoicing.passkey_rule import has_come, required_from
from invoicing.rights import is_owner

OWNER_FIRST = _("You have no passkey of your own yet. Add one first.")
TOO_EARLY = _("Choose %(day)s or a later day: so everybody can still sign in and add one.")
UNCONFIRMED = _(
    "Nothing was changed: it was not confirmed with one of your passkeys, or too late. Please try"
    " again."
)
MISTYPED = _("Choose a day, or none.")


class PasskeyRuleForm(forms.Form):
    """The page's script writes what a passkey confirmed into `assertion`, and then sends it."""

    day = forms.DateField(
        label=_("From this day (UTC)"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": MISTYPED},
        help_text=_("Leave it empty to require none."),
    )
    assertion = forms.CharField(required=False, widget=forms.HiddenInput)


def choose_passkey_rule(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Ask, then require passkeys from the day; 404 for everybody but the owner."""
    owner, day = _require_owner(request), required_from()
    form, status = PasskeyRuleForm(initial={"day": day}), 200
    if request.method == "POST":
        form = PasskeyRuleForm(request.POST)
        if form.is_valid() and _require(request, form):
            return redirect("admin:passkey-rule")
        status = 422
    values = {**context, "title": gettext("Passkeys"), "form": form, **_describe(day, owner)}
    return render(request, "admin/invoices/passkey_rule.html", values, status=status)


@require_POST
def give_options(request: HttpRequest) -> HttpResponse:
    """Answer the page's script what a passkey is to sign, to confirm the day in the form."""
    _require_owner(request)
    form = PasskeyRuleForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"problem": str(MISTYPED)}, status=422)
    return JsonResponse(ask_to_confirm(request, form.cleaned_data["day"]))


def _require_owner(request: HttpRequest) -> User:
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404
    return owner  # type: ignore[no-any-return]  # the user of every page


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
        require_passkeys(request, form.cleaned_data["day"], form.cleaned_data["assertion"])
    except PasskeyMissingError:
        form.add_error("day", OWNER_FIRST)
    except DayTooEarlyError:
        form.add_error("day", TOO_EARLY % {"day": format_day(earliest_day())})
    except PasskeyNotUsedError:
        form.add_error(None, UNCONFIRMED)
    except PermissionMissingError:
        raise PermissionDenied from None
    return form.is_valid()
