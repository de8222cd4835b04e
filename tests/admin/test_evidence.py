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

from agent_access.admin import paging, people
from agent_access.approvals.engine import decide
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import OPERATOR, Origin, record_act
from agent_access.connections import revoke_connection
from agent_access.models import AuditEvent, Receipt
from agent_access.models.audit import Transport
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access, turn_module
from invoicing.access import Permission
from invoicing.models import Document
from tests.factories import CustomerFactory, TaxRateFactory, TeamFactory, grant
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

RECEIPTS = "/admin/agent_access/receipt/"
EVENTS = "/admin/agent_access/auditevent/"

# What the two agents of `evidence` called, the newest first.
OF_THE_LEDGER = ["documents.issue_prepare", "drafts.create"]
OF_THE_READER = ["documents.list", "customers.search"]


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
    tomorrow = str(timezone.now().astimezone(UTC).date() + timedelta(days=1))
    both = ["key-two", "key-one"]
    for query, found in (
        ({"connection": mine.id}, both),
        ({"connection": other.id}, []),
        ({"tool": "drafts.create"}, ["key-one"]),
        ({"tool": "customers.search"}, []),
        ({"q": "key-one"}, ["key-one"]),
        ({"q": "key"}, []),
        ({"q": draft_id}, both),
        ({"q": Document.objects.get().draft_code}, both),
        ({"from": tomorrow}, []),
        ({"to": tomorrow, "tool": "drafts.create"}, ["key-one"]),
    ):
        assert keys(owner_desk, **query) == found, query


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


def test_the_audit_of_a_document_is_found_by_its_identifier_and_by_what_it_is_called(
    owner_desk, agent, delegate, draft_body
):
    draft = agent.call("drafts.create", draft_body, key="create").data
    version = {"lock_version": 1}
    asked = agent.call("documents.issue_prepare", version, id=draft["id"], key="prepare").data
    approval = ApprovalRequest.objects.get()
    decide(
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
    assert "there are more" not in main_of(owner_desk.get(EVENTS))
    assert actions(owner_desk)[:4] == [*OF_THE_READER, *OF_THE_LEDGER]
    assert column(owner_desk, EVENTS, "Outcome")[:2] == ["forbidden", "ok"]
    assert column(owner_desk, EVENTS, "Connection")[1:3] == ["Reader", "Ledger agent"]
    assert column(owner_desk, EVENTS, "Actor")[1:3] == ["Colin Colleague", "Dana Delegate"]
    assert column(owner_desk, EVENTS, "From")[0] == "http 127.0.0.1"


def test_an_act_of_nobody_names_no_actor(owner_desk, evidence):
    turn_access(on=False)
    assert column(owner_desk, EVENTS, "Actor")[0] == "-"


def test_the_audit_is_filtered(owner_desk, owner, evidence, delegate):
    mine, other, _ = evidence
    revoke_connection(other.id, reason=RevokedReason.OWNER_REVOKED)
    of_other = {"connection": other.id}
    ended = ["connection:revoked", "connection:created"]
    assert actions(owner_desk, **of_other, chain="connections") == OF_THE_READER
    assert actions(owner_desk, **of_other, chain="administration") == ended
    assert actions(owner_desk, tool="customers.search") == ["customers.search"]
    assert actions(owner_desk, outcome="forbidden") == ["documents.list"]
    assert actions(owner_desk, actor=delegate.id) == OF_THE_LEDGER
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


@pytest.mark.parametrize(
    ("moment", "found"),
    [
        ("2030-03-01T23:59:59Z", []),
        ("2030-03-02T00:00:00Z", ["record:changed"]),
        ("2030-03-02T23:59:59Z", ["record:changed"]),
        ("2030-03-03T00:00:00Z", []),
    ],
)
def test_the_audit_is_filtered_by_day_in_utc(owner_desk, company, moment, found):
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        record_act("record:changed", OPERATOR, target=str(company.pk))
    assert actions(owner_desk, **{"from": "2030-03-02", "to": "2030-03-02"}) == found


def test_a_search_finds_no_person_where_people_have_no_text(owner_desk, evidence, monkeypatch):
    monkeypatch.setattr(people, "text_fields", list)
    assert actions(owner_desk, q="colin", chain="connections") == []


def test_the_audit_is_searched(owner_desk, evidence, delegate, colleague):
    mine, _, draft_id = evidence
    created = AuditEvent.objects.get(action="drafts.create")
    for search, found in {
        "customers": ["customers.search"],
        "DRAFTS.create": ["drafts.create"],
        "reader customers": ["customers.search"],
        "ledger drafts": ["drafts.create"],
        "colin search": ["customers.search"],
        "olivia turned": [],
        "olivia reader": ["connection:created"],
        "nobody": [],
        "%": [],
        created.request_id: ["drafts.create"],
        draft_id: OF_THE_LEDGER,
        str(mine.id): [*OF_THE_LEDGER, "connection:created"],
        str(delegate.id): OF_THE_LEDGER,
        "127.0.0.1": [*OF_THE_READER, *OF_THE_LEDGER],
        "127.0.0": [],
    }.items():
        assert actions(owner_desk, q=search) == found, search
    for person in ("colin", colleague.email):
        assert actions(owner_desk, q=person, chain="connections") == OF_THE_READER


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
    told = ("documents.list", "forbidden", "Reader", "Colin Colleague", "http", "127.0.0.1")
    for expected in (*told, event.request_id, event.chain, event.digest):
        assert expected in page


@pytest.mark.parametrize("path", [RECEIPTS, EVENTS])
def test_nothing_can_be_added_changed_deleted_chosen_or_taken_away(owner_desk, evidence, path):
    page = main_of(owner_desk.get(path)).replace("Export evidence", "")
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
    assert count() == few <= 18


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


def test_a_connection_that_the_address_names_is_among_the_choices(
    owner_desk, evidence, monkeypatch
):
    monkeypatch.setattr("agent_access.admin.filters.CHOICES_SHOWN", 1)
    mine, _, _ = evidence
    assert keys(owner_desk, connection=mine.id) == ["key-two", "key-one"]
    page = main_of(owner_desk.get(RECEIPTS, {"connection": mine.id}))
    name = f"Ledger agent, acts as {mine.user.name} since {mine.created_at:%Y-%m-%d}"
    assert f'<option value="{mine.id}" selected>{name}</option>' in page


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
    tool = {"tool": "drafts.create"}
    for question in ({"q": "drafts.create"}, tool, {"q": draft_id, **tool}):
        assert actions(owner_desk, **question) == []
        # What is asked of one connection is asked of its own newest.
        assert actions(owner_desk, **question, connection=mine.id) == ["drafts.create"]
    said = "The search looked at the newest 3 of them."
    assert said in main_of(owner_desk.get(EVENTS, {"q": "x"}))
    today = {"from": "2000-01-01", "to": timezone.now().date().isoformat()}
    assert said in main_of(owner_desk.get(EVENTS, {"actor": delegate.id, **today}))
    for query in ({}, {"connection": mine.id}, {"q": "x", "to": "2000-01-01"}):
        assert said not in main_of(owner_desk.get(EVENTS, query))
