"""What machines of the service with a wrong clock make of approvals and numbers: no difference."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from agent_access.database import clock
from invoicing.models import Document
from tests.interface.issuing import decide, execute, prepare, read

# With SQLite there is one machine, whose clock is the only one.
pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.usefixtures("_the_database_has_its_own_clock"),
]

WINDOW = timedelta(minutes=10)
BEHIND, AHEAD = timedelta(minutes=-20), timedelta(minutes=20)


@pytest.fixture(params=[BEHIND, AHEAD], ids=["behind", "ahead"])
def offset(request):
    return request.param


def at_a_machine(offset):
    return time_machine.travel(datetime.now(UTC) + offset, tick=True)


def test_an_approval_lasts_ten_minutes_wherever_it_is_prepared(agent, drafted, offset):
    before = datetime.now(UTC)
    with at_a_machine(offset):
        prepared = prepare(agent, drafted["id"]).data

    expires_at = datetime.fromisoformat(read(agent, prepared)["expires_at"])

    assert before + WINDOW <= expires_at <= datetime.now(UTC) + WINDOW


def test_what_was_approved_in_time_is_executed_wherever_that_is_asked(agent, prepared, offset):
    decide(prepared)
    before = datetime.now(UTC)
    with at_a_machine(offset):
        assert execute(agent, prepared).status == 200

    [issued_at] = read_times()

    assert before <= issued_at <= datetime.now(UTC)


def test_a_machine_that_is_behind_revives_nothing(agent, prepared, monkeypatch):
    decide(prepared)
    later = timezone.now() + WINDOW
    monkeypatch.setattr(clock, "_ask_database", lambda: later)
    with at_a_machine(BEHIND):
        assert read(agent, prepared)["status"] == "expired"
        assert execute(agent, prepared).status == 410


def test_later_numbers_have_later_times_whichever_machine_issues(agent, draft_body):
    for place, offset in enumerate((AHEAD, BEHIND, AHEAD)):
        drafted = agent.call("drafts.create", draft_body, key=f"draft-{place}").data
        prepared = prepare(agent, drafted["id"], key=f"prepare-{place}").data
        decide(prepared)
        with at_a_machine(offset):
            assert execute(agent, prepared, key=f"execute-{place}").status == 200

    times = read_times()

    assert times == sorted(times)
    assert len(times) == 3


def read_times() -> list[datetime]:
    """Return when the documents were issued, in the order of their numbers."""
    issued = Document.objects.exclude(number=None).order_by("series_value")
    return [each.issued_at for each in issued if each.issued_at]
