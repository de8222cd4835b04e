"""Receipts and the audit, which the owner reads and nobody changes."""

import re
from datetime import UTC, datetime, timedelta
from html import escape, unescape
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent_access.admin import paging
from agent_access.audit import OPERATOR, Origin, record_act
from agent_access.connections import revoke_connection
from agent_access.models import AuditEvent, Receipt
from agent_access.models.audit import Transport
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access, turn_module
from invoicing.access import Permission
from invoicing.decisions import decide_approval
from invoicing.models import Decision, Document, IssueApproval
from tests.factories import CustomerFactory, TaxRateFactory, TeamFactory, grant
from tests.plans import plans_of
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

RECEIPTS = "/admin/agent_access/receipt/"
EVENTS = "/admin/agent_access/auditevent/"


def column(desk, path, label, **query: Any):
    """Return what stands in a column of a list, from its first row to its last."""
    page = main_of(desk.get(path, query))
    cells = page.split(f'data-label="{label}"><div>')[1:]
    return [cell.split("</div>")[0] for cell in cells]


def fact(page: str, label: str) -> str:
    """Return what stands beside a label on the page of one record."""
    [value] = re.findall(rf"<dt>{escape(label)}</dt>\s*<dd[^>]*>(.*?)</dd>", page, re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", "", value)).strip()


def actions(desk, **query: Any):
    return column(desk, EVENTS, "Action", **query)


def keys(desk, **query: Any):
    return column(desk, RECEIPTS, "Key", **query)


@pytest.fixture
def evidence(connect, delegate, colleague, draft_body):
    """What two agents did: their connections, and the ID of the draft that one made."""
    mine, my_agent = connect(delegate, name="Ledger agent")
    other, other_agent = connect(colleague, scopes=["customers:read"], name="Reader")
    draft = my_agent.call("drafts.create", draft_body, key="key-one").data
    version = {"lock_version": 1}
    my_agent.call("documents.issue_prepare", version, id=draft["id"], key="key-two")
    other_agent.call("customers.search")
    other_agent.call("documents.list")
    return mine, other, draft["id"]


def test_receipts_stand_with_what_they_say(owner_desk, evidence):
    _, _, draft_id = evidence
    assert keys(owner_desk) == ["key-two", "key-one"]
    assert column(owner_desk, RECEIPTS, "Tool") == ["documents.issue_prepare", "drafts.create"]
    assert column(owner_desk, RECEIPTS, "Connection") == ["Ledger agent"] * 2
    assert column(owner_desk, RECEIPTS, "Status") == ["202", "201"]
    code = Document.objects.get().draft_code
    assert column(owner_desk, RECEIPTS, "Record") == [code, code]
    page = main_of(owner_desk.get(f"{RECEIPTS}{Receipt.objects.get(key='key-one').id}/"))
    assert (fact(page, "Record"), fact(page, "Record's ID")) == (code, draft_id)


def test_receipts_are_filtered_and_searched(owner_desk, evidence):
    mine, other, draft_id = evidence
    tomorrow = timezone.now().astimezone(UTC).date() + timedelta(days=1)
    found = [
        keys(owner_desk, connection=mine.id),
        keys(owner_desk, connection=other.id),
        keys(owner_desk, tool="drafts.create"),
        keys(owner_desk, tool="customers.search"),
        keys(owner_desk, q="key-one"),
        keys(owner_desk, q="key"),
        keys(owner_desk, q=draft_id),
        keys(owner_desk, q=Document.objects.get().draft_code),
        keys(owner_desk, **{"from": str(tomorrow)}),
        keys(owner_desk, to=str(tomorrow), tool="drafts.create"),
    ]
    assert found == [
        ["key-two", "key-one"],
        [],
        ["key-one"],
        [],
        ["key-one"],
        [],
        ["key-two", "key-one"],
        ["key-two", "key-one"],
        [],
        ["key-one"],
    ]


def test_a_receipt_shows_its_answer_but_never_one_that_holds_a_secret(
    owner_desk, evidence, agent, draft_body
):
    plain = Receipt.objects.get(key="key-one")
    sealed = Receipt.objects.get(key="key-two")
    page = main_of(owner_desk.get(f"{RECEIPTS}{plain.id}/"))
    for expected in ("drafts.create", "key-one", str(plain.record_id), plain.call_digest):
        assert expected in page
    assert "&quot;draft_code&quot;" in page
    hidden = main_of(owner_desk.get(f"{RECEIPTS}{sealed.id}/"))
    assert "Kept encrypted, since it holds a secret; it is shown nowhere." in hidden
    assert sealed.answer[:40] not in hidden
    assert "nonce" not in hidden


def test_no_page_reads_more_answers_than_it_shows(owner_desk, evidence):
    """Each may be as long as a call, so a list of them may be a hundred times as long."""
    mine, _, _ = evidence
    of_one = {"connection": mine.id}
    with CaptureQueriesContext(database) as captured:
        owner_desk.get(RECEIPTS)
        owner_desk.get(RECEIPTS, of_one)
        owner_desk.get(f"/admin/agent_access/connection/{mine.id}/")
    asked = [each["sql"] for each in captured if 'FROM "agent_access_receipt"' in each["sql"]]
    assert asked
    assert not any('"answer"' in sql for sql in asked)


@pytest.mark.parametrize(("path", "time"), [(RECEIPTS, "created_at"), (EVENTS, "occurred_at")])
def test_rows_are_counted_by_time_alone(owner_desk, evidence, path, time):
    mine, _, _ = evidence
    with CaptureQueriesContext(database) as captured:
        owner_desk.get(path, {"connection": mine.id})
    orders = [
        each["sql"].partition(" ORDER BY ")[2].partition(" LIMIT ")[0]
        for each in captured
        if "COUNT(*) FROM (" in each["sql"]
    ]
    assert orders
    assert all(order.endswith(f'"{time}" DESC') for order in orders)


# PostgreSQL takes any index that orders a table of a few rows.
@pytest.mark.sqlite
def test_the_list_of_one_connections_receipts_looks_at_no_others(owner_desk, evidence):
    mine, _, _ = evidence
    of_one = {"connection": mine.id}
    plan = plans_of(lambda: owner_desk.get(RECEIPTS, of_one), where='INNER JOIN "agent_access_c')
    assert "agent_access_receipt_of" in plan


def test_the_audit_of_a_document_is_found_by_its_identifier_and_by_what_it_is_called(
    owner_desk, agent, delegate, draft_body
):
    draft = agent.call("drafts.create", draft_body, key="create").data
    version = {"lock_version": 1}
    asked = agent.call("documents.issue_prepare", version, id=draft["id"], key="prepare").data
    approval = IssueApproval.objects.get()
    decide_approval(
        delegate,
        approval.pk,
        decision=Decision.APPROVED,
        fingerprint=approval.fingerprint,
        reason="",
        origin=Origin(transport=Transport.WEB),
    )
    agent.call("documents.issue", {"nonce": asked["nonce"]}, id=asked["approval_id"], key="execute")
    agent.call("drafts.create", draft_body, key="another")

    history = ["documents.issue", "approval:approved", "documents.issue_prepare", "drafts.create"]
    assert actions(owner_desk, q=draft["id"]) == history
    number = Document.objects.get(pk=draft["id"]).number
    for called in (draft["draft_code"], draft["draft_code"].lower(), number):
        assert actions(owner_desk, q=called) == history
    assert actions(owner_desk, q=f"{number}0") == []


def test_the_audit_names_what_each_event_is_about(owner_desk, connect, delegate, draft_body):
    connection, agent = connect(delegate, name="Ledger agent")
    draft = agent.call("drafts.create", draft_body, key="create").data
    prepared = agent.call(
        "documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prepare"
    ).data
    agent.call("approvals.get", id=prepared["approval_id"])
    agent.call("people.get", id=str(delegate.id))
    agent.call("documents.get", id=(unknown := str(uuid4())))
    agent.call("documents.get", id="no-id")
    turn_module("people", on=False)
    targets = column(owner_desk, EVENTS, "Target")
    code, person = draft["draft_code"], "Dana Delegate"
    assert targets == ["people", "-", unknown, person, code, code, code, connection.name, "-"]
    event = AuditEvent.objects.get(action="approvals.get")
    page = main_of(owner_desk.get(f"{EVENTS}{event.id}/"))
    assert fact(page, "Target") == code
    assert fact(page, "Target's ID") == prepared["approval_id"]
    assert fact(page, "Connection") == connection.name


def test_the_audit_names_the_records_of_administration(owner_desk, owner, company):
    customer, rate = CustomerFactory.create(name="Acme"), TaxRateFactory.create(name="Reduced")
    team = TeamFactory.create(name="Sales")
    for each in (customer, rate, team, company, owner):
        record_act("record:changed", OPERATOR, target=str(each.pk))
    grant(owner, Permission.VIEW_CUSTOMER, Permission.VIEW_ALL_CUSTOMERS)
    expected = [owner, company, team, rate, customer]
    assert column(owner_desk, EVENTS, "Target") == [str(each) for each in expected]


def test_the_audit_names_no_customer_whom_the_owner_may_not_see(owner_desk, owner):
    seen, unseen = CustomerFactory.create(account_managers=[owner]), CustomerFactory.create()
    for each in (seen, unseen):
        record_act("record:changed", OPERATOR, target=str(each.pk))
    assert column(owner_desk, EVENTS, "Target") == [str(unseen.pk), str(seen.pk)]
    grant(owner, Permission.VIEW_CUSTOMER)
    assert column(owner_desk, EVENTS, "Target") == [str(unseen.pk), seen.name]


def test_the_audit_says_in_words_why_a_connection_ended(owner_desk, connection):
    revoke_connection(connection.id, reason=RevokedReason.REFRESH_REUSE)
    event = AuditEvent.objects.get(action="connection:revoked")
    words = "A refresh token was used twice"
    assert column(owner_desk, EVENTS, "Outcome")[0] == f"ok ({words})"
    for path in (f"{EVENTS}{event.id}/", f"/admin/agent_access/connection/{connection.id}/"):
        assert words in main_of(owner_desk.get(path)).partition("connection:revoked")[2]


def test_the_audit_stands_with_what_it_says(owner_desk, evidence):
    assert actions(owner_desk)[:4] == [
        "documents.list",
        "customers.search",
        "documents.issue_prepare",
        "drafts.create",
    ]
    assert column(owner_desk, EVENTS, "Outcome")[:2] == ["forbidden", "ok"]
    assert column(owner_desk, EVENTS, "Connection")[1:3] == ["Reader", "Ledger agent"]
    assert column(owner_desk, EVENTS, "Actor")[1:3] == ["Colin Colleague", "Dana Delegate"]
    assert column(owner_desk, EVENTS, "From")[0] == "http 127.0.0.1"


def test_an_act_of_nobody_names_no_actor(owner_desk, evidence):
    turn_access(on=False)
    assert column(owner_desk, EVENTS, "Actor")[0] == "-"


def test_events_are_found_by_the_name_or_the_address_of_the_person(owner_desk, evidence, colleague):
    for word in ("colin", colleague.email):
        assert actions(owner_desk, q=word, chain="connections") == [
            "documents.list",
            "customers.search",
        ]


def test_the_audit_is_filtered(owner_desk, owner, evidence, delegate):
    mine, other, _ = evidence
    revoke_connection(other.id, reason=RevokedReason.OWNER_REVOKED)
    calls = ["documents.list", "customers.search"]
    assert actions(owner_desk, connection=other.id, chain="connections") == calls
    assert actions(owner_desk, connection=other.id, chain="administration") == [
        "connection:revoked",
        "connection:created",
    ]
    assert actions(owner_desk, tool="customers.search") == ["customers.search"]
    assert actions(owner_desk, outcome="forbidden") == ["documents.list"]
    assert actions(owner_desk, actor=delegate.id) == ["documents.issue_prepare", "drafts.create"]
    assert "connection:created" in actions(owner_desk, actor=owner.id)
    assert actions(owner_desk, connection=mine.id, tool="customers.search") == []
    for wrong in ({"tool": "x"}, {"outcome": "x"}, {"actor": "x"}, {"chain": str(mine.id)}):
        assert actions(owner_desk, **wrong) == []


def test_the_calls_of_the_tool_that_lists_tools_are_filtered_too(owner_desk, connect, delegate):
    _, agent = connect(delegate)
    agent.call("tools.list")
    agent.call("customers.search")
    assert actions(owner_desk, tool="tools.list") == ["tools.list"]


def test_refused_token_requests_are_filtered_by_the_codes_of_oauth(owner_desk, client_program):
    client_program.refresh("ivr_unknown")
    assert actions(owner_desk, outcome="invalid_grant") == ["token_request:refused"]


def test_the_owner_sees_times_and_chooses_days_in_their_own_time_zone(owner, sign_in, connect):
    owner.time_zone = "Europe/Berlin"
    owner.save()
    with time_machine.travel(datetime(2030, 3, 2, 23, 30, tzinfo=UTC), tick=False):
        connection, agent = connect(owner, name="Ledger")
        agent.call("teams.list")
        turn_access(on=False)
        desk = sign_in(owner)
        own = f"/admin/agent_access/connection/{connection.id}/"
        page, audit = main_of(desk.get(own)), main_of(desk.get(EVENTS))
        for when in ("2030-03-03 00:30:00 CET", "2030-04-02 01:30:00 CEST"):
            assert when in page
        assert "Agent access was turned off at 00:30 CET on 2030-03-03." in page
        assert "2030-03-03 00:30:00 CET" in audit
        assert " UTC" not in page + audit
        assert "From (Europe/Berlin)" in audit
        assert "To (Europe/Berlin)" in audit
        for day, found in (("2030-03-02", 0), ("2030-03-03", 1)):
            told = actions(desk, **{"from": day, "to": day}).count("access:turned_off")
            assert told == found, day
        always = {"from": "0001-01-01", "to": "9999-12-31"}
        assert actions(desk, **always) == actions(desk) != []
    assert timezone.get_current_timezone_name() == "UTC", "it ended with the request"


def test_the_audit_is_filtered_by_day_in_utc(owner_desk, owner, connect, delegate):
    _, agent = connect(delegate)
    for moment in ("2030-03-01T23:59:59Z", "2030-03-02T00:00:00Z", "2030-03-02T23:59:59Z"):
        with time_machine.travel(datetime.fromisoformat(moment), tick=False):
            turn_access(on=False)
    events = AuditEvent.objects.filter(occurred_at__year=2030)
    assert events.exists()
    inside = {"from": "2030-03-02", "to": "2030-03-02"}
    before = {"from": "2030-03-01", "to": "2030-03-01"}
    assert actions(owner_desk, **before)[0] == "access:turned_off"
    assert actions(owner_desk, **inside) == []
    with time_machine.travel(datetime(2030, 3, 2, 23, 59, 59, tzinfo=UTC), tick=False):
        owner_desk.force_login(owner)
        owner_desk.post("/admin/agent_access/accesssettings/access/", {"state": "on"})
        assert actions(owner_desk, **inside) == ["access:turned_on"]
        always = {"from": "0001-01-01", "to": "9999-12-31"}
        assert actions(owner_desk, **always) == actions(owner_desk) != []
    assert agent.call("tools.list").status == 401


FOUND: dict[str, list[str]] = {
    "customers": ["customers.search"],
    "DRAFTS.create": ["drafts.create"],
    "reader customers": ["customers.search"],
    "ledger drafts": ["drafts.create"],
    "colin search": ["customers.search"],
    "olivia turned": [],
    "olivia reader": ["connection:created"],
    "nobody": [],
    "%": [],
}


def test_the_audit_is_searched_by_action_and_names(owner_desk, evidence):
    assert {search: actions(owner_desk, q=search) for search in FOUND} == FOUND


def test_the_audit_is_searched_by_identifiers_and_addresses(owner_desk, evidence, delegate):
    mine, _, draft_id = evidence
    event = AuditEvent.objects.get(action="drafts.create")
    assert actions(owner_desk, q=event.request_id) == ["drafts.create"]
    assert actions(owner_desk, q=draft_id) == ["documents.issue_prepare", "drafts.create"]
    calls = ["documents.issue_prepare", "drafts.create"]
    assert actions(owner_desk, q=str(mine.id)) == [*calls, "connection:created"]
    assert actions(owner_desk, q=str(delegate.id)) == calls
    assert len(actions(owner_desk, q="127.0.0.1")) == 4
    assert actions(owner_desk, q="127.0.0") == []


def test_a_record_leads_to_its_connection(owner_desk, evidence):
    mine, _, _ = evidence
    receipt = Receipt.objects.get(key="key-one")
    call = AuditEvent.objects.get(action="drafts.create")
    act = AuditEvent.objects.get(action="access:turned_on")
    there = f'href="/admin/agent_access/connection/{mine.id}/">Go to the connection<'
    assert there in main_of(owner_desk.get(f"{RECEIPTS}{receipt.id}/"))
    assert there in main_of(owner_desk.get(f"{EVENTS}{call.id}/"))
    assert "Go to the connection" not in main_of(owner_desk.get(f"{EVENTS}{act.id}/"))


def test_an_event_shows_all_that_is_proved(owner_desk, evidence):
    event = AuditEvent.objects.get(action="documents.list")
    page = main_of(owner_desk.get(f"{EVENTS}{event.id}/"))
    for expected in (
        "documents.list",
        "forbidden",
        "Reader",
        "Colin Colleague",
        "http",
        "127.0.0.1",
        event.request_id,
        event.chain,
        event.digest,
    ):
        assert expected in page


@pytest.mark.parametrize("path", [RECEIPTS, EVENTS])
def test_nothing_can_be_added_changed_deleted_chosen_or_taken_away(owner_desk, evidence, path):
    page = main_of(owner_desk.get(path))
    for word in ("Add", "Delete", "Export", "Save", "checkbox", "Revoke"):
        assert word not in page
    record = (Receipt if path == RECEIPTS else AuditEvent).objects.first()
    assert record is not None
    for route in (path, f"{path}{record.pk}/"):
        assert owner_desk.post(route, {"action": "delete_selected"}).status_code == 405
    for route in ("add/", f"{record.pk}/change/", f"{record.pk}/delete/", f"{record.pk}/history/"):
        assert owner_desk.get(path + route).status_code == 404


@pytest.mark.parametrize("path", [RECEIPTS, EVENTS])
def test_a_page_of_evidence_costs_the_same_whatever_it_holds(
    owner_desk, connect, delegate, colleague, draft_body, path
):
    def count() -> int:
        with CaptureQueriesContext(database) as captured:
            assert owner_desk.get(path).status_code == 200
        return len(captured)

    def work(user) -> None:
        connect(user)[1].call("drafts.create", draft_body, key="one")

    work(delegate)
    few = count()
    for user in (delegate, colleague) * 5:
        work(user)
    assert count() == few <= 15


@pytest.mark.parametrize("path", [RECEIPTS, EVENTS])
def test_a_long_table_is_never_counted_to_its_end(
    owner_desk, connect, delegate, draft_body, path, monkeypatch
):
    monkeypatch.setattr(paging, "MAX_ROWS", 5)
    monkeypatch.setattr("agent_access.admin.owners.OwnersModelAdmin.list_per_page", 2)
    for number in range(8):
        connect(delegate)[1].call("drafts.create", draft_body, key=f"key-{number}")
    with CaptureQueriesContext(database) as captured:
        page = main_of(owner_desk.get(path))
    counts = [each["sql"] for each in captured if "COUNT(*)" in each["sql"]]
    of_table = [sql for sql in counts if "agent_access_" in sql]
    assert [("LIMIT 5" in sql) for sql in of_table] == [True]
    assert "there are more. Narrow the search to find them." in page
    last = main_of(owner_desk.get(f"{path}?p=3"))
    assert last.count("<tr>") == 2
    assert owner_desk.get(f"{path}?p=4").status_code == 302


def test_they_are_sorted_by_time_whatever_the_address_says(owner_desk, evidence):
    for shown in (actions, keys):
        newest_first = shown(owner_desk)
        assert len(set(newest_first)) > 1
        for number in range(1, 8):
            assert shown(owner_desk, o=number) == newest_first


def test_a_short_table_says_nothing_of_more(owner_desk, evidence):
    assert "there are more" not in main_of(owner_desk.get(EVENTS))


def test_a_connection_that_the_address_names_is_among_the_choices(
    owner_desk, evidence, monkeypatch
):
    monkeypatch.setattr("agent_access.admin.filters.CHOICES_SHOWN", 1)
    mine, _, _ = evidence
    assert keys(owner_desk, connection=mine.id) == ["key-two", "key-one"]
    page = main_of(owner_desk.get(RECEIPTS, {"connection": mine.id}))
    assert f'<option value="{mine.id}" selected>Ledger agent</option>' in page


def test_a_person_who_left_is_still_among_the_choices_when_named(owner_desk, evidence, colleague):
    colleague.is_active = False
    colleague.save()
    page = main_of(owner_desk.get(EVENTS, {"actor": colleague.id}))
    assert f'<option value="{colleague.id}" selected>Colin Colleague</option>' in page


def test_a_search_of_a_long_table_looks_at_the_newest_and_says_so(
    owner_desk, evidence, delegate, monkeypatch
):
    monkeypatch.setattr(paging, "SEARCHED_ROWS", 3)
    mine, _, draft_id = evidence
    newest = ["documents.list", "customers.search", "documents.issue_prepare"]
    assert actions(owner_desk, chain="connections") == newest
    for question in (
        {"q": "drafts.create"},
        {"tool": "drafts.create"},
        {"q": draft_id, "tool": "drafts.create"},
    ):
        assert actions(owner_desk, **question) == []
        # What is asked of one connection is asked of its own newest.
        assert actions(owner_desk, **question, connection=mine.id) == ["drafts.create"]
    said = "The search looked at the newest 3 of them."
    assert said in main_of(owner_desk.get(EVENTS, {"q": "x"}))
    today = {"from": "2000-01-01", "to": timezone.now().date().isoformat()}
    assert said in main_of(owner_desk.get(EVENTS, {"actor": delegate.id, **today}))
    for query in ({}, {"connection": mine.id}, {"q": "x", "to": "2000-01-01"}):
        assert said not in main_of(owner_desk.get(EVENTS, query))


def test_a_search_of_many_receipts_looks_at_the_newest_and_says_so(
    owner_desk, evidence, monkeypatch
):
    monkeypatch.setattr(paging, "SEARCHED_ROWS", 1)
    for question in ({"q": "key-one"}, {"tool": "drafts.create"}):
        assert keys(owner_desk, **question) == []
        assert "looked at the newest 1 of them" in main_of(owner_desk.get(RECEIPTS, question))
    assert keys(owner_desk, q="key-two") == ["key-two"]
    assert keys(owner_desk) == ["key-two", "key-one"]


def test_the_search_costs_no_look_at_older_rows(owner_desk, evidence, monkeypatch):
    monkeypatch.setattr(paging, "SEARCHED_ROWS", 3)
    with CaptureQueriesContext(database) as captured:
        owner_desk.get(EVENTS, {"q": "x y", "tool": "drafts.create", "outcome": "ok"})
    events = [each["sql"] for each in captured if 'FROM "agent_access_auditevent"' in each["sql"]]
    bounds = [sql for sql in events if "OFFSET 3" in sql]
    assert len(bounds) == 1
    assert "LIKE" not in bounds[0].upper()
    assert all('"occurred_at" > ' in sql for sql in events if sql not in bounds)
