"""How a person chose to be told, and of which connections not at all."""

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, transaction
from django.utils.translation import get_language, gettext_noop

from agent_access import conf
from agent_access.telling.models import MutedConnection, Preferences
from agent_access.translations import SentenceError

__all__ = ["QuietHoursError", "mute", "read_preferences", "save_preferences", "unmute"]

logger = logging.getLogger(__name__)

HALF_QUIET = gettext_noop("Quiet hours need a beginning and another end, or neither.")


class QuietHoursError(SentenceError):
    """Quiet hours that are none; the message is a sentence for the person."""


def read_preferences(person: Any) -> Preferences:
    """Return what the person chose, or what holds until they choose."""
    return Preferences.objects.filter(person=person).first() or Preferences(person=person)


def lock_preferences(person_id: Any) -> Preferences:
    """Return what the person chose, locked: what is told to them changes under this lock only."""
    Preferences.objects.get_or_create(person_id=person_id)
    return Preferences.objects.select_for_update(no_key=True).get(person_id=person_id)


@transaction.atomic
def save_preferences(
    person: Any,
    *,
    by_mail: bool,
    shows_details: bool,
    wants_digest: bool = False,
    quiet_from: time | None = None,
    quiet_until: time | None = None,
) -> Preferences:
    """Keep what the person chose; raises QuietHoursError."""
    if (quiet_from is None) != (quiet_until is None) or (quiet_from and quiet_from == quiet_until):
        raise QuietHoursError(HALF_QUIET)
    chosen = lock_preferences(person.pk)
    chosen.by_mail, chosen.shows_details = by_mail, shows_details
    chosen.wants_digest = wants_digest
    chosen.quiet_from, chosen.quiet_until = quiet_from, quiet_until
    chosen.language = get_language() or ""
    chosen.save()
    return chosen


def mute(person: Any, connection_id: UUID) -> None:
    """Tell the person nothing more of a connection."""
    MutedConnection.objects.get_or_create(person=person, connection_id=connection_id)


def unmute(person: Any, connection_id: UUID) -> None:
    MutedConnection.objects.filter(person=person, connection_id=connection_id).delete()


def find_muted(person_id: Any) -> set[UUID]:
    """Return the IDs of the connections that the person muted."""
    muted = MutedConnection.objects.filter(person_id=person_id)
    return set(muted.values_list("connection_id", flat=True))


def mail_address(person: Any) -> str:
    """Return where the person can be told by mail; empty if they cannot."""
    return getattr(person, person.get_email_field_name(), "") if conf.mail_from() else ""


def is_quiet(chosen: Preferences, *, now: datetime) -> bool:
    """Return whether it is one of the person's quiet hours, by the clock where they are."""
    start, end = chosen.quiet_from, chosen.quiet_until
    if start is None or end is None:
        return False
    clock = local_time(chosen.person, now=now).time()
    return start <= clock < end if start < end else not end <= clock < start


def local_time(person: Any, *, now: datetime) -> datetime:
    """Return the time where the person is; in UTC where the project cannot say where that is."""
    try:
        return now.astimezone(conf.policy().time_zone(person))
    except (DatabaseError, InterfaceError):
        raise
    except Exception:
        logger.exception("The time zone of a person cannot be read, and UTC is taken.")
        return now.astimezone(UTC)


def tell_each(people: Iterable[Preferences], tell: Callable[[Preferences], None]) -> None:
    """Do it for each; what fails for one, such as in the project's policy, stops no other."""
    for chosen in people:
        try:
            tell(chosen)
        except (DatabaseError, InterfaceError):
            raise
        except Exception:
            logger.exception("A person cannot be told; it is tried again.")
