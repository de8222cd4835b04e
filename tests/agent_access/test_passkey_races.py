"""Changes of passkeys at the same moment: each link and each passkey ends once."""

from typing import Any

import pytest

from agent_access.audit import Actor, make_origin
from agent_access.models.audit import Transport
from agent_access.passkeys import assertions, confirming
from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.passkeys.confirming import PasskeyConfirmer, ask_to_confirm
from agent_access.passkeys.keeping import (
    remove_passkey,
)
from invoicing.models import User
from tests.passkeys import SoftPasskey
from tests.threads import Encounter, run_together

pytestmark = pytest.mark.django_db(transaction=True)

SESSION = "a" * 64
ATTEMPTS = 4


def by(person: User) -> Actor:
    return Actor(make_origin(Transport.WEB), person.pk)


def ask(purpose: str, person: User, **content: str) -> bytes:
    return challenge_bytes(make_challenge(purpose, session=SESSION, person=person, **content))


@pytest.mark.postgresql  # SQLite has one writer at a time
def test_who_confirms_and_who_changes_a_passkey_do_not_wait_for_each_other(delegate, monkeypatch):
    soft = SoftPasskey()
    kept = soft.keep_for(delegate)
    page = "b" * 64
    confirms = soft.sign(challenge_bytes(ask_to_confirm(delegate, page, session=SESSION)))
    allows = soft.sign(ask("remove", delegate, about=str(kept.pk)))
    encounter, verify = Encounter(), assertions.verify_assertion

    def verify_slowly(*args: Any, **told: Any) -> Any:
        encounter.wait_here()
        return verify(*args, **told)

    monkeypatch.setattr(confirming, "verify_assertion", verify_slowly)

    def confirm() -> bool:
        return PasskeyConfirmer().is_confirmed(delegate, confirms, page=page, session=SESSION)

    def remove() -> bool:
        remove_passkey(by(delegate), delegate, kept.pk, session=SESSION, allowed_by=allows)
        return True

    assert run_together([confirm, lambda: encounter.come(remove)]) == [True, True]
