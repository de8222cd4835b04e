"""Sends one message in one way: nothing here asks the database."""

import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from enum import Enum, auto
from http import HTTPStatus
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from urllib.parse import urlsplit

import http_ece
import orjson
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.mail import EmailMessage, get_connection
from py_vapid import Vapid02

from agent_access import conf, outgoing
from agent_access.outgoing import OutgoingError
from agent_access.sealing import KeyGoneError
from agent_access.telling.devices import Subscription, unseal_subscription
from agent_access.telling.messages import Message

__all__ = ["public_key"]

# Push services refuse a signature that is valid for more than a day.
SIGNATURE_SECONDS = 12 * 60 * 60
MAIL_SECONDS = 5
PERMANENT_REPLY = 500

GONE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


class Answer(Enum):
    SENT = auto()
    LATER = auto()  # nobody answered, or busy: it is tried again
    REFUSED = auto()
    GONE = auto()  # the browser has left
    UNREADABLE = auto()  # sealed under a key that is no longer configured


def public_key() -> str:
    """Return the applicationServerKey that browsers subscribe with; empty if there is none."""
    if not conf.web_push_key():
        return ""
    point = _private_key().public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return urlsafe_b64encode(point).decode().rstrip("=")


def _private_key() -> EllipticCurvePrivateKey:
    key = conf.web_push_key()
    number = int.from_bytes(urlsafe_b64decode(key + "=" * (-len(key) % 4)))
    return derive_private_key(number, SECP256R1())


def push(sealed: str, message: Message, *, now: datetime) -> Answer:
    """Send it to the browser with this subscription, as long as it is not over (RFC 8030, 8291)."""
    try:
        subscription = unseal_subscription(sealed)
    except KeyGoneError:
        return Answer.UNREADABLE
    headers = {
        **_sign(subscription),
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(int((message.expires_at - now).total_seconds())),
        "Urgency": "high",
        "Topic": message.tag,
    }
    body = _encrypt(subscription, message)
    reaches_loopback = conf.reaches_loopback()
    try:
        with outgoing.request(
            "POST", subscription.endpoint, headers, body, reaches_loopback=reaches_loopback
        ) as response:
            return _judge(response.status)
    except OutgoingError:
        return Answer.LATER


def _sign(subscription: Subscription) -> dict[str, str]:
    """Return the header field that says who sends (RFC 8292)."""
    claims = {
        "aud": f"https://{urlsplit(subscription.endpoint).netloc}",
        "exp": int(time.time()) + SIGNATURE_SECONDS,
        "sub": conf.base_url(),
    }
    # It would take no address with a port as the sender's.
    signer = Vapid02(_private_key(), conf={"no-strict": True})
    return dict(signer.sign(claims))


def _encrypt(subscription: Subscription, message: Message) -> bytes:
    told = {
        "title": message.title,
        "body": message.body,
        "path": message.path,
        "tag": message.tag,
        "expires_at": message.expires_at.isoformat(),
    }
    encrypted: bytes = http_ece.encrypt(
        orjson.dumps(told),
        private_key=generate_private_key(SECP256R1()),
        dh=subscription.p256dh,
        auth_secret=subscription.auth,
    )
    return encrypted


def _judge(status: int) -> Answer:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Answer.SENT
    if status in GONE:
        return Answer.GONE
    is_later = status in LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return Answer.LATER if is_later else Answer.REFUSED


def send_mail(address: str, message: Message, *, key: str) -> Answer:
    """Send it by mail; with the same key it is the same mail when it is sent again."""
    host = urlsplit(conf.base_url()).hostname
    mail = EmailMessage(
        subject=message.title,
        body=f"{message.body}\n\n{message.url}\n",
        from_email=conf.mail_from(),
        to=[address],
        headers={"Message-ID": f"<{key}@{host}>", "Auto-Submitted": "auto-generated"},
        connection=get_connection(timeout=MAIL_SECONDS),
    )
    if message.file:
        mail.attach(message.file.name, message.file.text, "text/plain")
    try:
        mail.send()
    except SMTPRecipientsRefused as error:
        replies = [code for code, _ in error.recipients.values()]
        return Answer.REFUSED if min(replies) >= PERMANENT_REPLY else Answer.LATER
    except SMTPResponseException as error:
        return Answer.REFUSED if error.smtp_code >= PERMANENT_REPLY else Answer.LATER
    except (SMTPException, OSError):
        return Answer.LATER
    except ValueError:  # an address that none can be, or of a line too many
        return Answer.REFUSED
    return Answer.SENT
