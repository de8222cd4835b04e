"""The page on which a person chooses the language and the time zone of what they read.

The first sign-in leads here: nobody else knows where somebody is.
"""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.administration.acts import actor_of
from invoicing.administration.preferences import UNKNOWN_ZONE, choose_preferences
from invoicing.errors import PermissionMissingError
from invoicing.languages import pages_languages
from invoicing.models import User
from invoicing.time_zones import zone_names
from invoicing.web.accounts.next_page import HOME, next_path
from invoicing.web.auditors import for_auditors
from invoicing.web.language import language_of_browser
from invoicing.web.pages import SignedInRequest, page

# The query parameter of the account page with which it says that they were saved.
SAVED = "preferences"


class PreferencesForm(forms.Form):
    """Names each language in itself; a script of the page proposes the browser's time zone."""

    language = forms.ChoiceField(label=_("Language"), required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), error_messages={"required": UNKNOWN_ZONE})

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = [("", _("Choose one")), *((name, name) for name in zone_names())]
        languages = [("", _("As in your browser")), *pages_languages()]
        self.fields["language"].choices = languages  # type: ignore[attr-defined]  # a ChoiceField
        self.fields["time_zone"].choices = zones  # type: ignore[attr-defined]  # as above
        self.fields["time_zone"].widget.attrs["data-proposes-zone"] = True


def ask_at_first(person: User, answer: HttpResponse) -> HttpResponse:
    """Lead somebody who has never chosen to this page, and from it where they were going."""
    if person.time_zone_chosen_at is not None or not answer.has_header("Location"):
        return answer
    return redirect(f"{reverse('preferences')}?{urlencode({'next': answer['Location']})}")


@for_auditors
@page(methods=("GET", "POST"))
def preferences(request: SignedInRequest) -> HttpResponse:
    """Save by POST, then go on to the page that was asked for, or back to the account."""
    if request.method != "POST":
        return _show(request, PreferencesForm(initial=_propose(request)))
    form = PreferencesForm(request.POST)
    if not (form.is_valid() and _write(request, form)):
        return _show(request, form, status=422)
    following = next_path(request, otherwise="")
    return redirect(following or f"{reverse('account')}?{SAVED}")


def _propose(request: SignedInRequest) -> dict[str, str]:
    """Return what the person chose, and before that the browser's language.

    UTC is what everybody has who was never asked, so it is proposed to nobody.
    """
    person = request.user
    if person.time_zone_chosen_at is not None:
        return {"language": person.spoken, "time_zone": person.time_zone}
    assumed = "" if person.time_zone == "UTC" else person.time_zone
    return {"language": person.spoken or language_of_browser(request), "time_zone": assumed}


def _write(request: SignedInRequest, form: PreferencesForm) -> bool:
    try:
        choose_preferences(actor_of(request), **form.cleaned_data)
    except ValidationError as problem:
        form.add_error(None, problem)
    except PermissionMissingError:  # signed out everywhere at this moment
        form.add_error(None, _("You were signed out at this moment. Sign in and try again."))
    return form.is_valid()


def _show(request: HttpRequest, form: PreferencesForm, *, status: int = 200) -> HttpResponse:
    person: Any = request.user
    values = {
        "form": form,
        "next": next_path(request, otherwise=""),
        "later": next_path(request, otherwise=HOME),
        "is_first": person.time_zone_chosen_at is None,
    }
    return render(request, "invoicing/preferences.html", values, status=status)
