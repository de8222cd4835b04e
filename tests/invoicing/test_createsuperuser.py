from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from agent_access.models import AuditEvent
from agent_access.verification import find_breaks
from invoicing.management.commands import createsuperuser
from invoicing.models import User
from tests.administration import acts_written
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
    assert acts_written() == [("person:created", str(person.id), "is_staff=yes, is_superuser=yes")]
    [facts] = AuditEvent.objects.values_list("actor_id", "outcome", "transport")
    assert facts == (None, "ok", "command")
    assert list(find_breaks({})) == []


@pytest.mark.django_db(transaction=True)
def test_nobody_is_created_who_cannot_be_written_down(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        assert User.objects.exists()
        raise RuntimeError

    monkeypatch.setattr(createsuperuser, "record_admin_act", fail)
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
def test_a_password_that_is_not_text_creates_nobody(monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "raw bytes of a shell \udcff")
    with pytest.raises(CommandError, match=r"^A value is not text in UTF-8; nobody was created\.$"):
        create()
    assert not User.objects.exists()


@pytest.mark.django_db
def test_an_input_that_ends_creates_nobody(monkeypatch):
    def end(*_: object) -> None:
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    terminal = SimpleNamespace(isatty=lambda: True)
    with pytest.raises(CommandError, match=r"^The input ended; nobody was created\.$"):
        call_command("createsuperuser", stdin=terminal, stdout=StringIO())
    assert not User.objects.exists()


@pytest.mark.django_db
def test_nobody_else_who_is_saved_afterwards_is_written_down():
    create()
    UserFactory.create()
    assert AuditEvent.objects.count() == 1
