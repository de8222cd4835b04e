"""A person's working week, as stretches of time on its days."""

from collections.abc import Iterable
from datetime import datetime, time
from itertools import pairwise
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from invoicing.models import User, WorkingHours

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
OVERLAP = _(
    "The hours of a day must be in order, each from earlier to later. Split those of a night:"
    " 22:00 to 23:59, and on the next day 0:00 to 6:00."
)


class Stretch(NamedTuple):
    """A stretch of one day; `weekday` is an index of WEEKDAYS, so Monday is 0."""

    weekday: int
    start_time: time
    end_time: time


def read_hours(person: User) -> list[Stretch]:
    rows = person.working_hours.values_list("weekday", "start_time", "end_time")
    return sorted(Stretch(*row) for row in rows)


def write_hours(person: User, hours: Iterable[Stretch]) -> None:
    """Replace the person's hours; raises ValidationError if two overlap or one ends too early."""
    stretches = sorted(hours)
    is_wrong = any(each.start_time >= each.end_time for each in stretches) or any(
        first.weekday == second.weekday and first.end_time > second.start_time
        for first, second in pairwise(stretches)
    )
    if is_wrong:
        raise ValidationError(OVERLAP)
    person.working_hours.all().delete()
    WorkingHours.objects.bulk_create(
        WorkingHours(person=person, **stretch._asdict()) for stretch in stretches
    )


def is_outside_hours(person: User, moment: datetime) -> bool:
    """Return whether a moment, in the person's time zone, is in none of their hours.

    Not if they have none. The minute at which hours end is one of them.
    """
    hours, minute = read_hours(person), moment.time().replace(second=0, microsecond=0)
    return bool(hours) and not any(
        each.weekday == moment.weekday() and each.start_time <= minute <= each.end_time
        for each in hours
    )
