"""The form in which people choose how they are told."""

from typing import Any

from django import forms
from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from agent_access.telling.heads import choose_heads, may_want_heads
from agent_access.telling.preferences import (
    QuietHoursError,
    mail_address,
    read_preferences,
    save_preferences,
)

MAIL_FIELDS = ("by_mail", "wants_digest", "wants_heads")
FIELDS = (*MAIL_FIELDS, "shows_details", "quiet_from", "quiet_until")


class ClockField(forms.TimeField):
    """A time of the day, to the minute, as a browser's own field sends it; it may be left out."""

    def __init__(self, label: Any) -> None:
        super().__init__(
            label=label,
            required=False,
            input_formats=["%H:%M", "%H:%M:%S"],
            widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        )


class ChoicesForm(forms.Form):
    """How a person is told; mail is no choice where none can be sent to them.

    The heads of the audit are one for whoever may administer.
    """

    by_mail = forms.BooleanField(required=False)
    wants_digest = forms.BooleanField(required=False)
    wants_heads = forms.BooleanField(required=False)
    shows_details = forms.BooleanField(required=False)
    quiet_from = ClockField(_("Quiet from"))
    quiet_until = ClockField(_("Quiet until"))

    def __init__(self, data: QueryDict | None = None, *, person: Any) -> None:
        chosen = read_preferences(person)
        initial = {name: getattr(chosen, name) for name in FIELDS}
        super().__init__(data, initial=initial, label_suffix="")
        self.person = person
        if not mail_address(person):
            for name in MAIL_FIELDS:
                del self.fields[name]
        elif not may_want_heads(person):
            del self.fields["wants_heads"]

    @property
    def quiet_hours(self) -> tuple[forms.BoundField, forms.BoundField]:
        return self["quiet_from"], self["quiet_until"]

    def save(self) -> bool:
        """Keep what was chosen, if it is valid, and return whether it is."""
        if not self.is_valid():
            return False
        kept = {name: self.initial[name] for name in MAIL_FIELDS}
        chosen = kept | self.cleaned_data
        try:
            with transaction.atomic():
                choose_heads(self.person, is_wanted=chosen.pop("wants_heads"))
                save_preferences(self.person, **chosen)
        except QuietHoursError as error:
            self.add_error("quiet_until", error.told())
        return not self.errors
