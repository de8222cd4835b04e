"""The form of a person: profile, sign-in, rights and working hours."""

from datetime import time
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.utils.dates import WEEKDAYS as WEEKDAY_NAMES
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.fields import CheckboxesField, HoursField, PermissionsField, PersonField
from invoicing.admin.records import RecordForm
from invoicing.administration.people import digest_person
from invoicing.administration.preferences import UNKNOWN_ZONE
from invoicing.languages import pages_languages
from invoicing.models import Skill, User
from invoicing.services.working_hours import WEEKDAYS, Stretch, read_hours
from invoicing.time_zones import zone_names

NEGATIVE_RATE = _("Write an hourly rate of 0 or more.")


def _zones() -> list[tuple[str, str]]:
    # The first one is what a browser shows for a person whose zone is unknown by now.
    return [("", gettext("Choose one")), *((zone, zone) for zone in zone_names())]


def _languages() -> list[tuple[str, str]]:
    return [("", gettext("As in their browser")), *pages_languages()]


class PersonForm(RecordForm):
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=_zones,
        initial="UTC",
        help_text=_("Dates and times are shown to this person in it."),
        error_messages={"invalid_choice": UNKNOWN_ZONE},
    )
    language = forms.ChoiceField(
        label=_("Language"),
        choices=_languages,
        required=False,
        help_text=_("Pages, mails and notifications are in it."),
    )
    manager = PersonField(
        User.objects.listed().order_by("name", "email"), label=_("Manager"), required=False
    )
    skills = CheckboxesField(Skill.objects.all(), label=_("Skills"))
    audits_until = forms.DateField(
        label=_("Audits until"),
        required=False,
        help_text=User._meta.get_field("audits_until").help_text,
        widget=forms.DateInput(attrs={"type": "date", "max": "9999-12-31"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
    )
    groups = CheckboxesField(Group.objects.order_by("name"), label=_("Roles"))
    user_permissions = PermissionsField(label=_("Permissions in addition to those of the roles"))

    monday = HoursField(label=WEEKDAY_NAMES[0])
    tuesday = HoursField(label=WEEKDAY_NAMES[1])
    wednesday = HoursField(label=WEEKDAY_NAMES[2])
    thursday = HoursField(label=WEEKDAY_NAMES[3])
    friday = HoursField(label=WEEKDAY_NAMES[4])
    saturday = HoursField(label=WEEKDAY_NAMES[5])
    sunday = HoursField(label=WEEKDAY_NAMES[6])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            return
        for weekday, start, end in read_hours(self.instance):
            self.initial.setdefault(WEEKDAYS[weekday], []).append((start, end))
        known = User.objects.filter(pk=self.instance.manager_id)
        manager: Any = self.fields["manager"]
        manager.queryset = (User.objects.listed() | known).order_by("name", "email")

    @override
    def digest(self) -> str:
        return digest_person(self.instance)

    def clean_email(self) -> str:
        return User.objects.normalize_email(self.cleaned_data["email"])

    def clean_hourly_rate(self) -> int | None:
        rate: int | None = self.cleaned_data["hourly_rate"]
        if rate is not None and rate < 0:
            raise forms.ValidationError(NEGATIVE_RATE)
        return rate

    def hours(self) -> list[Stretch]:
        days: list[list[tuple[time, time]]] = [self.cleaned_data[name] for name in WEEKDAYS]
        return [Stretch(weekday, *hours) for weekday, day in enumerate(days) for hours in day]
