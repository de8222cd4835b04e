"""Moments as this section shows them: in Django's current time zone, which is named.

The project activates that of the person who looks; otherwise it is its TIME_ZONE.
"""

from datetime import datetime

from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import pgettext


def format_moment(moment: datetime) -> str:
    return format_date(localtime(moment), pgettext("format of a date", "Y-m-d H:i:s T"))


def format_minute(moment: datetime | None, *, never: str = "") -> str:
    if moment is None:
        return never
    return format_date(localtime(moment), pgettext("format of a date", "Y-m-d H:i T"))
