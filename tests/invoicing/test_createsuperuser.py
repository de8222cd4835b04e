from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agent_access import audit
from agent_access.models import AuditEvent
from agent_access.verification import find_breaks
from invoicing.models import User
from tests.factories import UserFactory
from tests.snapshots import take_snapshot

NEW = {"email": "Ada@Example.com", "name": "Ada", "interactive": False}


def create(**options: object) -> None:
    call_command("createsuperuser", **{**NEW, **options}, stdout=StringIO())


@pytest.mark.django_db
def test_a_person_who_is_created_at_the_command_line_is_audited():
    create()

    person = User.objects.get()
    assert (person.email, person.is_staff, person.is_superuser) == ("ada@example.com", True, True)
    event = AuditEvent.objects.get()
    assert (event.chain, event.action, event.target, event.outcome, event.transport) == (
        "administration",
        "person:created",
        str(person.id),
        "ok",
        "command",
    )
    assert (event.actor_id, event.detail) == (None, "is_staff=yes, is_superuser=yes")
    assert list(find_breaks({})) == []


@pytest.mark.django_db(transaction=True)
def test_nobody_is_created_who_cannot_be_written_down(monkeypatch):
    def fail() -> None:
        raise RuntimeError

    monkeypatch.setattr(audit, "lock_administration", fail)
    with pytest.raises(RuntimeError):
        create()
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_refusal_writes_nothing():
    UserFactory.create(email="ada@example.com")
    before = take_snapshot()
    with pytest.raises(CommandError, match="already taken"):
        create(email="ada@example.com")
    assert take_snapshot() == before


@pytest.mark.django_db
def test_nobody_else_who_is_saved_afterwards_is_written_down():
    create()
    UserFactory.create()
    assert AuditEvent.objects.count() == 1
