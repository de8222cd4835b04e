"""The test that a person starts: it says of each of their ways what happened."""

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.urls import get_script_prefix
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from agent_access.telling.messages import Message, digest_tag
from agent_access.telling.models import Preferences
from agent_access.telling.outbox import Way, find_ways
from agent_access.telling.preferences import read_preferences
from agent_access.telling.sending import Answer
from agent_access.telling.worker import Send, make_sending, mark_device
from agent_access.translations import Text

__all__ = ["send_test"]

logger = logging.getLogger(__name__)

PAUSE = timedelta(seconds=30)

OF_DEVICES: Mapping[Answer, Text] = {
    Answer.SENT: _("%(name)s: sent. If nothing appears, look at the settings of that browser."),
    Answer.LATER: _("%(name)s: its push service could not be reached."),
    Answer.REFUSED: _("%(name)s: its push service refused the message."),
    Answer.GONE: _("%(name)s: it does not take notifications any more, and was removed."),
    Answer.UNREADABLE: _("%(name)s: its address can no longer be read. Add that browser again."),
}
OF_MAIL: Mapping[Answer, Text] = {
    Answer.SENT: _("Mail: sent. If none arrives, look among unwanted mail."),
    Answer.LATER: _("Mail: the mail server could not be reached."),
    Answer.REFUSED: _("Mail: the mail server refused the message."),
}


def send_test(person: Any) -> list[str]:
    """Send a test in each of the person's ways; return a sentence for each, in their language.

    It takes some five seconds at most, and is done once in half a minute. Call it outside of a
    transaction, which would be open as long.
    """
    now = timezone.now()
    if not (ways := find_ways(read_preferences(person))):
        return [str(_("There is nothing to test: add this browser, or choose mail."))]
    if not _begin(person, now=now):
        return [str(_("Wait half a minute before the next test."))]
    message = Message(
        title=str(_("A test")),
        body=str(_("You will be told here.")),
        path=get_script_prefix(),
        tag=digest_tag("test"),
        expires_at=now + PAUSE,
    )
    sends = [make_sending(way, person, message, key=str(uuid7()), now=now) for way in ways]
    with ThreadPoolExecutor(len(sends)) as threads:
        answers = list(threads.map(_try, sends))
    for way, answer in zip(ways, answers, strict=True):
        if way is not None:
            mark_device(way.pk, answer, person_id=person.pk, now=now)
    return [_describe(way, answer) for way, answer in zip(ways, answers, strict=True)]


def _begin(person: Any, *, now: datetime) -> bool:
    """Return whether a test may begin, and keep that it did."""
    Preferences.objects.get_or_create(person=person)
    rested = Q(tested_at=None) | Q(tested_at__lte=now - PAUSE)
    return bool(Preferences.objects.filter(rested, person=person).update(tested_at=now))


def _try(send: Send) -> Answer:
    try:
        return send()
    except Exception as error:  # noqa: BLE001  each mail backend has errors of its own
        # Their text may hold an address.
        logger.error("A test could not be sent: %s.", type(error).__name__)  # noqa: TRY400  as above
        return Answer.LATER


def _describe(way: Way, answer: Answer) -> str:
    values = {"name": way.name if way else ""}
    return str((OF_DEVICES if way else OF_MAIL)[answer]) % values
