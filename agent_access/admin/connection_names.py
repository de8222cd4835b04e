"""What a connection is called where several of one client stand side by side."""

from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from agent_access.models import Connection


def tell_apart(connection: Connection) -> str:
    """Return its name, person and day: "Claude, acts as Dana since 2026-03-02"."""
    told = {
        "name": connection.name,
        "person": connection.user,
        "day": made_on(connection),
    }
    return _("%(name)s, acts as %(person)s since %(day)s") % told


def made_on(connection: Connection) -> str:
    """Return the day on which it was made, in the current time zone."""
    return format_date(localtime(connection.created_at), pgettext("format of a date", "Y-m-d"))
