"""Mails that tell a person of a change of their passkeys, which is never silent."""

import logging
from enum import Enum
from typing import Any

from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agent_access import conf

logger = logging.getLogger(__name__)

SECONDS = 5


class Change(Enum):
    """What was done, as the subject of its mail says."""

    ADDED = gettext_noop("A passkey was added to your account")
    REMOVED = gettext_noop("A passkey was removed from your account")
    LINK_MADE = gettext_noop("A link to add a passkey to your account was made")
    RECOVERED = gettext_noop("A new passkey replaced all those of your account")


def tell_of(change: Change, person: Any) -> None:
    """Send the mail once the change is committed, if any can be sent; its failure is only logged.

    It names no passkey: whoever added one chose its name.
    """
    address = getattr(person, person.get_email_field_name(), "")
    if not (conf.mail_from() and address):
        return
    with translation.override(conf.policy().language(person) or translation.get_language()):
        mail = _compose(change, address)
    transaction.on_commit(lambda: _send(mail))


def _compose(change: Change, address: str) -> EmailMessage:
    subject = _(change.value)
    body = _(
        "%(change)s at %(service)s.\n\nIf you did not do or ask for that, change your password at"
        " once, and tell whoever administers the service."
    )
    return EmailMessage(
        subject=subject,
        body=body % {"change": subject, "service": conf.base_url()} + "\n",
        from_email=conf.mail_from(),
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    )


def _send(mail: EmailMessage) -> None:
    try:
        mail.connection = get_connection(timeout=SECONDS)
        mail.send()
    except Exception:  # each backend has errors of its own, and the change is committed
        logger.exception("A mail about a passkey could not be sent.")
