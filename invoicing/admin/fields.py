"""Form fields of the admin: for people, permissions, and working hours."""

import re
from collections.abc import Iterable
from datetime import time
from typing import Any

from django import forms
from django.contrib.auth.models import Permission as PermissionRow
from django.core.exceptions import ValidationError
from django.db.models import Case, Model, Q, QuerySet, When
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.visible_text import mark_invisible
from invoicing.admin.permission_words import WORDS
from invoicing.models import User

_STRETCH = re.compile(r"(\d{1,2}):(\d{2})\s*(?:-|\u2013|[a-zà-ÿ]+)\s*(\d{1,2}):(\d{2})", re.ASCII)
UNOFFERED = _("Choose from the list only.")
MOST_STRETCHES = 10
TOO_MANY_STRETCHES = format_lazy(_("A day has at most {most} periods."), most=MOST_STRETCHES)
MISTYPED_HOURS = _("Write hours such as 9:00 to 12:30, 13:00 to 17:30, or nothing for a day off.")


class CheckboxesField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic for mypy only
    """A choice of several records, each with a checkbox."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, queryset: QuerySet[Any], **kwargs: Any) -> None:
        super().__init__(queryset=queryset, required=False, **kwargs)

    def offer(self, held: QuerySet[Any]) -> None:
        """Set the choices, given those that the record has; called before the form is shown."""

    @override
    def clean(self, value: Any) -> Any:
        try:
            return super().clean(value)
        except OverflowError:  # from a number that SQLite cannot hold
            raise ValidationError(UNOFFERED) from None

    @override
    def label_from_instance(self, obj: Model) -> str:
        return mark_invisible(str(obj))


class PersonField(forms.ModelChoiceField):  # type: ignore[type-arg]  # as above
    """A choice of one person, with the e-mail address, since names may be the same."""

    @override
    def label_from_instance(self, obj: Any) -> str:
        return _describe_person(obj)


class PeopleField(CheckboxesField):
    """A choice of several people: active staff, and those who are chosen already."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(User.objects.none(), **kwargs)

    @override
    def offer(self, held: QuerySet[Any]) -> None:
        fitting = Q(pk__in=User.objects.listed().values("pk")) | Q(pk__in=held.values("pk"))
        self.queryset = User.objects.filter(fitting).order_by("name", "email")

    @override
    def label_from_instance(self, obj: Model) -> str:
        return _describe_person(obj)


def _describe_person(person: Any) -> str:
    return mark_invisible(f"{person.name} ({person.email})")


class PermissionsField(CheckboxesField):
    """A choice of permissions, in plain words; those without words are hidden, and kept."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(PermissionRow.objects.none(), **kwargs)
        self.unsaid: list[PermissionRow] = []

    @override
    def offer(self, held: QuerySet[Any]) -> None:
        codenames = [name.partition(".")[2] for name in WORDS]
        ours = PermissionRow.objects.filter(content_type__app_label="invoices")
        said = ours.filter(codename__in=codenames)
        places = (When(codename=name, then=place) for place, name in enumerate(codenames))
        self.queryset = said.order_by(Case(*places))
        self.unsaid = list(held.exclude(pk__in=said.values("pk")))

    @override
    def clean(self, value: Any) -> Any:
        return [*super().clean(value), *self.unsaid]

    @override
    def label_from_instance(self, obj: Any) -> str:
        return str(WORDS[f"invoices.{obj.codename}"])


class HoursField(forms.CharField):
    """The hours of one day as people write them; cleaned to pairs of start and end."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.TextInput(attrs={"placeholder": _("9:00 to 17:30")})
        super().__init__(required=False, widget=widget, **kwargs)

    @override
    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        parts = [part for part in re.split(r"[,;]\s*", text) if part.strip()]
        # Counted, since a text that fits a limit may be longer once it is shown in our form.
        if len(parts) > MOST_STRETCHES:
            raise ValidationError(TOO_MANY_STRETCHES)
        return [_parse_stretch(part) for part in parts]

    @override
    def prepare_value(self, value: Any) -> Any:
        return format_hours(value) if isinstance(value, list) else value


def format_hours(hours: Iterable[tuple[time, time]]) -> str:
    """Return the hours of one day as the field takes them; empty for a day off."""
    return ", ".join(
        gettext("%(start)s to %(end)s") % {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}"}
        for start, end in hours
    )


def _parse_stretch(text: str) -> tuple[time, time]:
    match = _STRETCH.fullmatch(text.strip())
    try:
        hour, minute, last_hour, last_minute = map(int, match.groups() if match else ())
        return time(hour, minute), time(last_hour, last_minute)
    except ValueError:
        raise ValidationError(MISTYPED_HOURS) from None
