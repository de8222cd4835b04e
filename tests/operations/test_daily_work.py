"""How old the last proof of the audit and the last backup are, for Prometheus."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError
from prometheus_client import CollectorRegistry

from agent_access.models import AccessSettings, ChainHead
from config.operations.daily_work import DailyWork

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def told(work: DailyWork) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(work)
    return {sample.name: sample.value for each in registry.collect() for sample in each.samples}


@pytest.mark.django_db
def test_what_the_daily_commands_keep_is_told_as_moments(agent, time_machine):
    work = DailyWork(AccessSettings.read)
    assert told(work) == {}, "nothing was read yet"
    work.read()
    assert told(work) == {"audit_verified_timestamp_seconds": 0, "audit_broken_chains": 0}
    time_machine.move_to(NOW, tick=False)
    agent.call("tools.list")
    call_command("backup_done", stdout=StringIO())
    call_command("verify_audit", stdout=StringIO())
    work.read()
    moments = {
        "audit_verified_timestamp_seconds": NOW.timestamp(),
        "backup_timestamp_seconds": NOW.timestamp(),
    }
    assert told(work) == {**moments, "audit_broken_chains": 0}
    ChainHead.objects.update(digest="f" * 64)
    with pytest.raises(SystemExit):
        call_command("verify_audit", stderr=StringIO())
    work.read()
    assert told(work) == {**moments, "audit_broken_chains": ChainHead.objects.count()}


def test_while_the_database_is_down_the_last_moments_stay():
    answers = [AccessSettings(audit_verified_at=NOW)]

    def read() -> AccessSettings:
        if not answers:
            raise DatabaseError
        return answers.pop()

    work = DailyWork(read)
    work.read()
    work.read()
    assert told(work)["audit_verified_timestamp_seconds"] == NOW.timestamp()
