"""What nobody decided in time: how much that was, for its person and for the owner."""

import re
from datetime import timedelta

import pytest

from agent_access.approvals import inbox, views
from agent_access.approvals.models import Decision
from invoicing.services.drafts import ConnectionRef
from tests.approvals import PREPARED_AT, prepare
from tests.factories import make_connection_ref
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.usefixtures("clock"), pytest.mark.sqlite]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FRONT = "/admin/agent_access/accesssettings/"


def ids_in(answer):
    return re.findall(r'href="/approvals/([0-9a-f-]{36})"', answer.content.decode())


def test_a_person_and_the_owner_read_what_expired_undecided_in_seven_days(
    sign_in, owner, desk, delegate, colleague, draft
):
    assert "expired in the last 7 days" not in main_of(desk.get("/approvals"))
    assert "Nothing expired." in main_of(desk.get("/approvals/missed"))
    assert "<h2>Missed</h2>" not in main_of(sign_in(owner).get(FRONT))

    again = ConnectionRef(*make_connection_ref())
    prepare(draft, user=delegate, now=PREPARED_AT - 2 * HOUR, connection=again)
    replacing = prepare(
        draft, user=delegate, now=PREPARED_AT - 2 * HOUR + timedelta(minutes=5), connection=again
    )
    latest = prepare(draft, user=delegate, now=PREPARED_AT - HOUR)
    prepare(draft, user=delegate, now=PREPARED_AT - 7 * DAY - HOUR)
    decided = prepare(draft, user=delegate, now=PREPARED_AT - HOUR)
    decided.decide(Decision.REJECTED, now=PREPARED_AT - HOUR + timedelta(minutes=1))
    prepare(draft, user=delegate)  # can still be decided
    prepare(draft, user=colleague, now=PREPARED_AT - HOUR)

    link = (
        '<a href="/approvals/missed">2 requests expired in the last 7 days before you decided</a>'
    )
    assert link in main_of(desk.get("/approvals"))
    missed = desk.get("/approvals/missed")
    assert ids_in(missed) == [str(each.approval.pk) for each in (latest, replacing)]
    front = main_of(sign_in(owner).get(FRONT))
    listed = f"<li>{delegate}: 2</li><li>{colleague}: 1</li>"
    assert listed in front


def test_a_long_list_goes_on_and_is_not_counted_to_its_end(desk, delegate, draft, monkeypatch):
    monkeypatch.setattr(inbox, "MOST_COUNTED", 2)
    monkeypatch.setattr(views, "MOST_COUNTED", 2)
    monkeypatch.setattr(inbox, "PAGE_LENGTH", 2)
    made = [prepare(draft, user=delegate, now=PREPARED_AT - HOUR) for _ in range(3)]
    assert ">2+ requests expired in" in main_of(desk.get("/approvals"))
    first = desk.get("/approvals/missed")
    [following] = re.findall(r'href="(\?before=[^"]*)"', first.content.decode())
    second = desk.get(f"/approvals/missed{following}")
    ids = [str(each.approval.pk) for each in reversed(made)]
    assert (ids_in(first), ids_in(second)) == (ids[:2], ids[2:])
    assert "?before=" not in second.content.decode()
