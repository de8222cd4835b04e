"""The page of one connection: what it is and may, its calls, and what they made."""

import re
from datetime import timedelta
from html import unescape

import pytest
import time_machine
from django.utils import timezone
from django.utils.html import strip_tags

from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.connections import revoke_connection
from agent_access.models import Connection
from agent_access.models.audit import AuditEvent, Transport
from agent_access.models.connections import RevokedReason
from invoicing.access import Permission
from invoicing.models import User
from tests.factories import grant
from tests.plans import plans_of, prefer_indexes
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

LIST = "/admin/agent_access/connection/"
REVOKE = f"{LIST}revoke/"


def page_of(desk, connection):
    return main_of(desk.get(f"{LIST}{connection.id}/"))


def test_the_page_of_a_connection_tells_what_it_is_and_may(owner_desk, connect, delegate):
    connection, _ = connect(delegate, scopes=["customers:read"], days=3, name="Ledger <agent>")
    page = page_of(owner_desk, connection)
    for expected in (
        "Ledger &lt;agent&gt;</h1>",
        f"Dana Delegate ({delegate.email})",
        "Pasted credential",
        "Search customers and see their names.",
        str(connection.id),
        "It has not called yet.",
        "Nothing yet.",
        "connection:created",
        "Olivia Owner",
    ):
        assert expected in page
    assert str(connection.credential_digest) not in page


def test_the_page_of_a_browser_connection_names_its_client(owner_desk, browser_connection):
    page = page_of(owner_desk, browser_connection)
    for expected in ("Browser agent", "client.example", browser_connection.client_id):
        assert expected in page
    assert "code:exchanged" in page


def test_a_single_capability_of_the_pilot_is_named(owner_desk, connection):
    Connection.objects.filter(pk=connection.pk).update(grants=["customers.search"])
    assert '<code class="quiet">customers.search</code>' in page_of(owner_desk, connection)


def test_the_page_shows_calls_and_what_they_made(
    owner_desk, agent, connection, delegate, draft_body
):
    draft = agent.call("drafts.create", draft_body, key="a-key").data
    version = {"lock_version": 1}
    approval = agent.call("documents.issue_prepare", version, id=draft["id"], key="b-key").data
    agent.call("documents.get", id="0190f1f0-0000-7000-8000-000000000000")
    ApprovalRequest.objects.filter(pk=approval["approval_id"]).update(
        decision=Decision.REJECTED, decided_at=timezone.now()
    )
    page = page_of(owner_desk, connection)
    calls = ("drafts.create", "a-key", "documents.issue_prepare", "b-key", "not_found")
    work = ("Draft", draft["draft_code"], "Issue approval", "Rejected", "Dana Delegate")
    assert [each for each in (*calls, *work) if each not in page] == []
    hidden = (approval["nonce"], "Thank you.", "Acme Ltd")
    assert [each for each in hidden if each in page] == []


def test_the_page_leads_to_all_that_the_connection_wrote(
    owner_desk, owner, agent, connection, draft_body
):
    grant(owner, Permission.VIEW_DOCUMENT)
    link = f'href="/documents?connection={connection.id}">All that it wrote'
    assert link not in page_of(owner_desk, connection)
    agent.call("drafts.create", draft_body, key="one")
    assert link in page_of(owner_desk, connection)


def test_what_the_owner_may_not_open_is_named_without_a_link(
    owner_desk, owner, agent, connection, customer, draft_body
):
    """An owner needs no permission to see documents, but their pages do."""
    made = agent.call("drafts.create", draft_body, key="one").data
    agent.call("documents.issue_prepare", {"lock_version": 1}, id=made["id"], key="two")
    link, all_of_it = f'href="/documents/{made["id"]}"', "All that it wrote"
    for owners_right, (links, leads_on) in (
        (lambda: None, (0, False)),
        (lambda: grant(owner, Permission.VIEW_DOCUMENT), (0, True)),
        (lambda: customer.account_managers.add(owner), (2, True)),
    ):
        owners_right()
        page = page_of(owner_desk, connection)
        assert (page.count(link), all_of_it in page) == (links, leads_on)
        assert page.count(made["draft_code"]) == 4  # twice as work, twice as the target of a call
        for href in re.findall(r'href="(/documents[^"]*)"', page):
            assert owner_desk.get(href).status_code == 200


def test_the_work_of_another_connection_is_not_shown(owner_desk, connect, delegate, draft_body):
    mine, _ = connect(delegate, name="Mine")
    _, other = connect(delegate, name="Other")
    draft = other.call("drafts.create", draft_body, key="one").data
    page = page_of(owner_desk, mine)
    assert draft["draft_code"] not in page
    assert "drafts.create" not in page


# PostgreSQL takes any index that orders a table of a few rows.
@pytest.mark.sqlite  # words only
@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("table", "index"),
    [
        ("invoices_document", "document_by_connection"),
        ("agent_approvals_approvalrequest", "approval_by_connection"),
        ("agent_access_receipt", "agent_access_receipt_of"),
    ],
)
def test_the_page_looks_at_no_other_connections_work(owner_desk, connection, table, index):
    plan = plans_of(lambda: page_of(owner_desk, connection), where=f'FROM "{table}"')
    assert index in plan


@pytest.mark.postgresql
def test_what_was_done_with_a_connection_is_found_among_all_its_calls(owner_desk, connection):
    call = {"action": "tools.list", "outcome": "ok", "transport": Transport.HTTP}
    AuditEvent.objects.bulk_create(
        AuditEvent(
            chain=str(connection.id),
            connection_id=connection.id,
            sequence=sequence,
            occurred_at=connection.created_at,
            **call,
        )
        for sequence in range(1, 1000)
    )
    prefer_indexes()
    where = 'chain" = %s AND "agent_access_auditevent"."connection_id" = %s'
    plan = plans_of(lambda: page_of(owner_desk, connection), where=where)
    assert "agent_access_acts_on" in plan


@pytest.mark.usefixtures("many_calls")
def test_older_calls_are_in_its_audit(owner_desk, agent, connection):
    for _ in range(52):
        agent.call("tools.list")
    page = page_of(owner_desk, connection)
    assert page.count("tools.list") == 50
    audit = f"/admin/agent_access/auditevent/?connection={connection.id}"
    assert f'href="{audit}">Search its audit' in page
    assert main_of(owner_desk.get(f"{audit}&p=2")).count("<div>tools.list</div>") == 2


def about(page: str) -> str:
    [words] = re.findall(r'<p class="about">(.*?)</p>', page, re.DOTALL)
    return " ".join(unescape(strip_tags(words)).split())


REUSES = {
    RevokedReason.CODE_REUSE: (
        "Either the client sent it again, or somebody else has seen it. If you trust the client,"
        " let the client sign in again. If this happens again, tell its developers to exchange each"
        " code once."
    ),
    RevokedReason.REFRESH_REUSE: (
        "Either the client refreshed twice at once or sent the same token again, or somebody else"
        " has it. If you trust the client, let the client sign in again. If this happens again,"
        " tell its developers to keep the newest refresh token and to send one refresh at a time."
    ),
}


@pytest.mark.parametrize("reason", RevokedReason)
@pytest.mark.parametrize(
    ("kind", "renewal"),
    [("pasted", "make a new connection"), ("browser", "let the client sign in again")],
)
def test_the_page_of_an_ended_connection_says_what_to_do(
    owner_desk, connection, browser_connection, reason, kind, renewal
):
    ended = connection if kind == "pasted" else browser_connection
    with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False):
        moment = timezone.now()
        revoke_connection(ended.id, reason=reason)
    page = page_of(owner_desk, ended)
    told = about(page)
    assert f"{REVOKE}?id=" not in page
    begun = f"Ended {reason.label} at {moment:%H:%M} UTC on {moment:%Y-%m-%d}. "
    assert told.startswith(begun)
    assert renewal in told.removeprefix(begun)
    assert told.endswith(".")
    if kind == "browser" and reason in REUSES:
        assert told == begun + REUSES[reason]


def test_the_page_of_one_that_ends_at_its_next_call_says_what_to_do(
    owner_desk, connection, delegate
):
    User.objects.filter(pk=delegate.pk).update(is_active=False)
    assert about(page_of(owner_desk, connection)) == (
        "Ended The delegated user was deactivated. If the program needs access again, make a new"
        " connection and choose another person."
    )
