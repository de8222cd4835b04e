"""What a person reads of a notification, as it is true at this moment, in their language."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from agent_access import conf
from agent_access.models.connections import Connection
from agent_access.telling.models import Fate, Notification, Preferences
from agent_access.waiting import TextFile, Told, shorten_name, subjects

DETAILS_LENGTH = 200
# What a push service takes as a Topic: 32 characters of base64 for URLs.
TAG_LENGTH = 32
# Of a connection that asks often, how many of its last requests may be over before none counts.
LAST_LOOKED_AT = 20


@dataclass(frozen=True, kw_only=True)
class Message:
    """What is sent: `path` leads to the page; of messages with one tag the last replaces others."""

    title: str
    body: str
    path: str
    tag: str
    expires_at: datetime
    file: TextFile | None = None

    @property
    def url(self) -> str:
        return f"{conf.base_url()}{self.path}"


def compose(notification: Notification, chosen: Preferences, *, now: datetime) -> Message | None:
    """Return what the person reads; None if there is nothing to decide any more, or to see."""
    with read_by(chosen):
        if notification.fate == Fate.SUMMARY:
            return _compose_summary(notification, now=now)
        told = _tell(notification, now=now)
        if told is None:
            return None
        details = told.details[:DETAILS_LENGTH] if chosen.shows_details else ""
        return Message(
            title=told.title,
            body="\n".join(filter(None, [told.sentence, details])),
            path=told.path,
            tag=digest_tag(notification.tag),
            expires_at=min(told.expires_at, notification.expires_at),
            file=told.file,
        )


@contextmanager
def read_by(chosen: Preferences) -> Iterator[None]:
    """Write texts and times as the person reads them."""
    policy = conf.policy()
    language = policy.language(chosen.person) or chosen.language or settings.LANGUAGE_CODE
    zone = policy.time_zone(chosen.person)
    with translation.override(language), timezone.override(zone):
        yield


def digest_tag(tag: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(tag.encode()).digest()).decode()[:TAG_LENGTH]


def _tell(notification: Notification, *, now: datetime) -> Told | None:
    subject = subjects.get(notification.subject)
    if subject is None or not notification.person.is_active or now >= notification.expires_at:
        return None
    return subject.tell(notification.record_id, notification.person, now=now)


def _compose_summary(notification: Notification, *, now: datetime) -> Message | None:
    """Return that the connection asks often, as long as one of its last requests can be decided.

    That one may have been asked after the summary was, while nothing could be sent.
    """
    asked = Notification.objects.filter(
        person_id=notification.person_id,
        connection_id=notification.connection_id,
        expires_at__gt=now,
    )
    last = asked.select_related("person").order_by("-pk")[:LAST_LOOKED_AT]
    newest = next((each for each in last if _tell(each, now=now)), None)
    if notification.connection_id is None or newest is None:
        return None
    connection = Connection.objects.filter(pk=notification.connection_id).first()
    if connection is None:
        return None
    return Message(
        title=_("%(name)s asks often") % {"name": shorten_name(connection.name)},
        body=_("Open your inbox: you are not told of each of its requests."),
        # Where all that a connection asks for can be decided.
        path=reverse("agent_approvals:inbox"),
        tag=digest_tag(f"often:{notification.connection_id}"),
        expires_at=newest.expires_at,
    )
