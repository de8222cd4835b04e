"""Confirming a sensitive act with a passkey, as `agent_access.confirming` asks for it."""

import re
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.urls import reverse

from agent_access import audit
from agent_access.database.clock import read_clock
from agent_access.models.settings import AccessSettings
from agent_access.passkeys.assertions import AssertionRefusedError, verify_assertion
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.models import Challenge, Passkey
from agent_access.passkeys.sites import can_have_passkeys

PURPOSE = "confirm"
# How a page is named: by the SHA-256 of its address, which may be long.
PAGE = re.compile(r"[0-9a-f]{64}", re.ASCII)


class PasskeyConfirmer:
    """A PasskeyKeeper: see there."""

    def has_passkey(self, person: Any) -> bool:
        return can_have_passkeys() and Passkey.objects.kept_by(person.pk).exists()

    def options_address(self, page: str) -> str:
        return f"{reverse('agent_passkeys:confirm')}?{urlencode({'page': page})}"

    def is_confirmed(self, person: Any, assertion: str, *, page: str, session: str) -> bool:
        try:
            # Takes the locks of changing passkeys first, so that neither waits for the other.
            with transaction.atomic():
                AccessSettings.lock()
                audit.lock_administration()
                proven = verify_assertion(
                    assertion, PURPOSE, session=session, person=person, now=read_clock()
                )
        except AssertionRefusedError:
            return False
        return bool(proven.content["page"] == page)


def ask_to_confirm(person: Any, page: str, *, session: str) -> Challenge:
    """Return what the person's passkey is to sign, for the page with this digest."""
    return make_challenge(PURPOSE, session=session, person=person, page=page)
