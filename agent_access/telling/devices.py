"""The browsers on which a person is told: each with the push subscription that it made."""

import hashlib
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language, gettext_noop

from agent_access.models.connections import HOST_LENGTH
from agent_access.sealing import reseal, seal, unseal
from agent_access.telling.models import DEVICE_NAME_LENGTH, Device
from agent_access.telling.preferences import lock_preferences
from agent_access.translations import SentenceError

__all__ = ["DeviceError", "add_device", "forget_device"]

MOST_DEVICES = 10
ENDPOINT_LENGTH = 1000
# Without a user, a fragment or an IPv6 address, which no push service has.
ENDPOINT = re.compile(
    r"https://[a-z0-9.-]+(?::[1-9][0-9]{0,4})?/[!\"$-~]*", re.ASCII | re.IGNORECASE
)
POINT_LENGTH = 65
SECRET_LENGTH = 16

UNUSABLE = gettext_noop("This browser gave no address to which notifications can be sent.")
TOO_MANY = gettext_noop("Notifications go to at most %(most)d browsers: remove one first.")


class DeviceError(SentenceError):
    """A browser that cannot be added; the message is a sentence for the person."""


@dataclass(frozen=True, repr=False)
class Subscription:
    """Where a browser is reached: an https address, its public key and its shared secret."""

    endpoint: str
    p256dh: bytes
    auth: bytes

    @property
    def service(self) -> str:
        """The host that delivers to the browser."""
        return str(urlsplit(self.endpoint).hostname)


def add_device(person: Any, subscription: Any, *, name: str) -> Device:
    """Add a browser by what its PushSubscription.toJSON() says; raises DeviceError.

    A browser belongs to whoever added it last, and to nobody else any more.
    """
    known = read_subscription(subscription)
    digest = hashlib.sha256(known.endpoint.encode()).hexdigest()
    with transaction.atomic():
        held = Device.objects.filter(endpoint_digest=digest).exclude(person=person)
        holders = held.values_list("person_id", flat=True)
        # In one order, so that no two wait in a circle; under these, nobody is told anything new.
        locked = {pk: lock_preferences(pk) for pk in sorted({person.pk, *holders}, key=str)}
        chosen = locked[person.pk]
        held.delete()
        others = Device.objects.filter(person=person).exclude(endpoint_digest=digest)
        if others.count() >= MOST_DEVICES:
            raise DeviceError(TOO_MANY, most=MOST_DEVICES)
        chosen.language = get_language() or ""
        chosen.save(update_fields=["language"])
        values = {
            "person": person,
            "sealed": seal_subscription(known),
            "service": known.service,
            "name": name[:DEVICE_NAME_LENGTH],
            "added_at": timezone.now(),
            "problem": "",
        }
        return Device.objects.update_or_create(endpoint_digest=digest, defaults=values)[0]


def forget_device(person: Any, pk: UUID) -> None:
    """Tell the person nothing more in this browser, if it is theirs.

    Under the lock of who makes deliveries: one to a device that is gone would fail at commit.
    """
    theirs = Device.objects.filter(person=person, pk=pk)
    if not theirs.exists():
        return
    with transaction.atomic():
        lock_preferences(person.pk)
        theirs.delete()


def read_subscription(given: Any) -> Subscription:
    """Return what a browser said of itself; raise DeviceError if nothing can be sent there."""
    try:
        endpoint, keys = given["endpoint"], given["keys"]
        known = Subscription(endpoint, _decode(keys["p256dh"]), _decode(keys["auth"]))
        EllipticCurvePublicKey.from_encoded_point(SECP256R1(), known.p256dh)
        fits = len(endpoint) <= ENDPOINT_LENGTH and len(known.service) <= HOST_LENGTH
        lengths = (len(known.p256dh), len(known.auth))
        if fits and ENDPOINT.fullmatch(endpoint) and lengths == (POINT_LENGTH, SECRET_LENGTH):
            return known
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise DeviceError(UNUSABLE)


def _decode(text: str) -> bytes:
    digits = text.rstrip("=")
    return b64decode(digits + "=" * (-len(digits) % 4), b"-_", validate=True)


def seal_subscription(known: Subscription) -> str:
    keys = [b64encode(each).decode() for each in (known.p256dh, known.auth)]
    return seal(orjson.dumps([known.endpoint, *keys])).decode()


def unseal_subscription(sealed: str) -> Subscription:
    """Return what was sealed; raise KeyGoneError if its key is no longer configured."""
    endpoint, p256dh, auth = orjson.loads(unseal(sealed.encode()))
    return Subscription(endpoint, b64decode(p256dh), b64decode(auth))


def reseal_devices() -> None:
    """Seal with today's SECRET_KEY what a former one sealed: devices outlive it."""
    for device in Device.objects.only("sealed"):
        if fresh := reseal(device.sealed.encode()):
            old = Device.objects.filter(pk=device.pk, sealed=device.sealed)
            old.update(sealed=fresh.decode())
