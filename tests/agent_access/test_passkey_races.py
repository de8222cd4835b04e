"""Changes of passkeys at the same moment: each link and each passkey ends once."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from agent_access.audit import Actor, make_origin
from agent_access.models import AuditEvent
from agent_access.models.audit import Transport
from agent_access.passkeys import assertions, confirming
from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.passkeys.confirming import PasskeyConfirmer, ask_to_confirm
from agent_access.passkeys.keeping import (
    NewPasskey,
    add_by_link,
    add_passkey,
    make_link,
    remove_passkey,
)
from agent_access.passkeys.models import Passkey
from agent_access.passkeys.refusals import PasskeyRefusedError
from agent_access.verification import find_breaks
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


def succeed_once(act: Callable[[int], object]) -> None:
    """Do it several times at once; expect that one succeeds, and that the others are audited."""

    def attempt(number: int) -> bool:
        try:
            act(number)
        except PasskeyRefusedError:
            return False
        return True

    done = run_together([partial(attempt, number) for number in range(ATTEMPTS)])
    assert sorted(done) == [False] * (ATTEMPTS - 1) + [True]
    assert AuditEvent.objects.filter(action="passkey:refused").count() == ATTEMPTS - 1
    assert [*find_breaks()] == []


def test_the_same_link_works_once(owner, delegate):
    link = make_link(by(owner), delegate, maker=owner)
    texts = [SoftPasskey().register(ask("recover", delegate)) for _ in range(ATTEMPTS)]

    def use(number: int) -> None:
        new = NewPasskey(registration=texts[number], name="Phone")
        add_by_link(by(delegate), new, session=SESSION, link=link)

    succeed_once(use)
    assert Passkey.objects.kept_by(delegate).count() == 1


def test_the_last_passkey_is_removed_once(delegate):
    soft = SoftPasskey()
    kept = soft.keep_for(delegate)
    texts = [soft.sign(ask("remove", delegate, about=str(kept.pk))) for _ in range(ATTEMPTS)]

    def remove(number: int) -> None:
        text = texts[number]
        remove_passkey(by(delegate), delegate, kept.pk, session=SESSION, allowed_by=text)

    succeed_once(remove)
    assert not Passkey.objects.kept_by(delegate).exists()


def test_one_assertion_allows_one_addition(delegate):
    soft = SoftPasskey(counter=1)
    soft.keep_for(delegate)
    text = soft.sign(ask("add", delegate))
    made = [SoftPasskey().register(ask("register", delegate)) for _ in range(ATTEMPTS)]

    def add(number: int) -> None:
        new = NewPasskey(registration=made[number], name="Phone")
        add_passkey(by(delegate), delegate, new, session=SESSION, allowed_by=text)

    succeed_once(add)
    assert Passkey.objects.kept_by(delegate).count() == 1 + 1


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
