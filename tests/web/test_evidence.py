"""The evidence of an issued document: how it came to be, what agrees with what, and its files."""

import json
import re
from datetime import date, datetime
from hashlib import sha256
from typing import Any, cast

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from agent_access.approvals.models import ApprovalRequest
from agent_access.facts import canonical_json
from agent_access.models import AuditEvent
from agent_access.passkeys.models import Signature
from invoicing.access import Permission
from invoicing.decisions import issue_by_hand
from invoicing.evidence import events
from invoicing.evidence.history import read_history
from invoicing.models import Document, DocumentType, NumberSeries, Original, OriginalKind
from invoicing.services.issued_content import digest_content
from invoicing.services.issuing import issue_document
from invoicing.web.evidence import document as document_page
from invoicing.web.listings import PAGE_LENGTH
from tests.administration import ADDRESS, ORIGIN, acts_written
from tests.agent_access.tampering import run_sql, without_triggers
from tests.agents import HOST
from tests.approvals import fingerprint_draft
from tests.clocks import at
from tests.evidence_of_agents import issue_by_agent, keep_pdf
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    UserFactory,
    make_correction,
    make_draft,
    make_issued,
    make_staff,
    withdraw,
)
from tests.interface.refusals import nothing_changes
from tests.passkeys import SoftPasskey
from tests.web.forms import main_of, text_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

AGREES, DIFFERS, UNKNOWN = "Agrees", "Does not agree", "Not known"
PDF = b"%PDF-1.7 for a test"


@pytest.fixture
def desk(sign_in, company) -> Any:
    """The browser of somebody who may read evidence, and nothing else."""
    return sign_in(UserFactory.create(name="Ute Auditor", permissions=[Permission.AUDIT]))


@pytest.fixture
def by_agent(agent, draft_body) -> Document:
    return issue_by_agent(agent, draft_body)


@pytest.fixture
def by_hand(delegate, customer) -> Document:
    draft = make_draft(user=delegate, customer=customer)
    fingerprint = fingerprint_draft(draft)
    return issue_by_hand(delegate, draft.pk, fingerprint=fingerprint, origin=ORIGIN)


def test_who_loses_the_permission_while_the_page_is_made_does_not_see_it(
    sign_in, company, by_hand, monkeypatch
):
    reader = UserFactory.create(permissions=[Permission.AUDIT])

    def read_and_withdraw(of: Document) -> Any:
        history = read_history(of)
        withdraw(reader, Permission.AUDIT)
        return history

    monkeypatch.setattr(document_page, "read_history", read_and_withdraw)
    acts = acts_written()
    answer = sign_in(reader).get(f"/evidence/{by_hand.pk}")
    assert answer.status_code == 403
    assert str(by_hand.number) not in main_of(answer)
    assert acts_written() == acts


def show(desk: Any, document: Document) -> str:
    answer = desk.get(f"/evidence/{document.pk}")
    assert answer.status_code == 200
    return main_of(answer)


def titles_of(page: str) -> list[str]:
    steps = page[page.index('<ol class="card steps"') : page.index("</ol>")]
    return re.findall(r"<h3>(.*?)</h3>", steps)


def outcomes_of(page: str) -> list[str]:
    """Return what came of the checks: of the document, the request, both, and the events.

    Where nobody approved, there is nothing to compare it with.
    """
    checks = page[page.index('<ul class="checks points">') : page.index("</ul>")]
    return re.findall(rf'<span class="tag[^"]*">({AGREES}|{DIFFERS}|{UNKNOWN})</span>', checks)


def test_what_an_agent_issued_is_told_step_by_step_with_the_event_of_each(desk, by_agent):
    page = show(desk, by_agent)
    assert titles_of(page) == [
        "The draft was made",
        "The draft was changed",
        "Its issue was asked for",
        "The request was rejected",
        "Its issue was asked for",
        "The request was approved",
        "A call of documents.issue was refused: not_found",
        "It was issued",
        "A call of documents.issue was repeated",
    ]
    sequences = [
        int(found) for found in re.findall(r"<summary>\s*Event (\d+) of the chain\s*</", page)
    ]
    assert sequences == list(range(1, 10))
    assert "No event of it was found" not in page
    assert "Wrong<" in re.sub("</?bdi>", "", page)
    assert outcomes_of(page) == [AGREES, AGREES, AGREES, AGREES]
    assert digest_content(by_agent) in page


def test_each_step_names_the_agent_and_the_person(desk, by_agent, delegate, connection):
    page = re.sub("</?bdi>", "", show(desk, by_agent))
    assert page.count(f"by the agent “{connection.name}” for {delegate.name}") == 7
    assert page.count(f"by {delegate.name}") == 2
    approval = ApprovalRequest.objects.get(executed_at__isnull=False)
    assert f'has the digest <span class="digest">{approval.fingerprint}</span>.' in page


def test_what_a_person_issued_by_hand_has_the_event_of_that_and_no_request(desk, by_hand, delegate):
    page = show(desk, by_hand)
    assert titles_of(page) == ["The draft was made by hand", "It was issued by hand"]
    assert outcomes_of(page) == [AGREES, UNKNOWN, AGREES]
    assert "document:issued" in page
    assert "No event of it was found" not in page


def test_saves_that_are_in_no_event_are_counted(desk, by_hand):
    with without_triggers("invoices"):
        Document.objects.update(lock_version=5)
    assert "saved 3 more times" in show(desk, by_hand)


def test_what_was_issued_before_digests_were_kept_is_said_to_be_unknown(desk, company):
    page = show(desk, make_issued())
    assert outcomes_of(page) == [UNKNOWN, UNKNOWN, UNKNOWN]
    assert "No event of it was found in the audit" in page


@pytest.mark.parametrize(
    ("column", "value", "match"),
    [("grand_total", 1, DIFFERS), ("buyer_name", "Mallory", DIFFERS), ("number", "INV-9", AGREES)],
)
def test_a_document_that_was_changed_since_does_not_agree(desk, by_agent, column, value, match):
    totals = {"net_total": 1, "tax_total": 0} if column == "grand_total" else {}
    with without_triggers("invoices"):
        Document.objects.update(**{column: value}, **totals)
    assert outcomes_of(show(desk, by_agent)) == [DIFFERS, AGREES, match, AGREES]


@pytest.mark.parametrize("is_covered", [False, True])
def test_a_request_that_was_changed_since_does_not_agree(desk, by_agent, is_covered):
    """Covered up by its own fingerprint, it disagrees with the event of the decision."""
    executed = ApprovalRequest.objects.filter(executed_at__isnull=False)
    facts = executed.get().facts.replace("PO 7", "PO 8")
    fingerprint = {"fingerprint": sha256(facts.encode()).hexdigest()} if is_covered else {}
    with without_triggers("agent_approvals"):
        executed.update(facts=facts, **fingerprint)
    assert outcomes_of(show(desk, by_agent)) == [AGREES, DIFFERS, DIFFERS, AGREES]


@pytest.mark.parametrize("action", ["documents.issue_prepare", "drafts.create"])
def test_an_event_that_was_changed_since_does_not_follow(desk, by_agent, action):
    run_sql("UPDATE agent_access_auditevent SET request_id = %s WHERE action = %s", "x", action)
    page = show(desk, by_agent)
    assert outcomes_of(page) == [AGREES, AGREES, AGREES, DIFFERS]
    assert ": its digest does not match" in page


def test_an_event_that_was_removed_is_missed(desk, by_agent):
    run_sql("DELETE FROM agent_access_auditevent WHERE action = %s", "approval:approved")
    page = show(desk, by_agent)
    assert outcomes_of(page) == [AGREES, UNKNOWN, AGREES, DIFFERS]
    assert page.count("No event of it was found in the audit") == 1


def test_of_a_busy_connection_a_bounded_number_of_events_is_read(desk, by_agent, monkeypatch):
    monkeypatch.setattr(events, "MOST_READ", 2)
    page = show(desk, by_agent)
    assert len(re.findall(r"<summary>\s*Event", page)) == 2
    assert page.count("No event of it was found in the audit") == 5


def test_no_private_fact_and_no_address_of_anybody_is_shown(desk, agent, by_agent, delegate):
    with without_triggers("invoices"):
        Document.objects.update(internal_notes="Between us")
    page = text_of(desk.get(f"/evidence/{by_agent.pk}"))
    for private in (ADDRESS, "127.0.0.1", delegate.email, "Between us"):
        assert private not in page


def test_credit_notes_lead_to_the_evidence_of_their_invoice_and_back(desk, by_hand, delegate):
    draft = make_correction(by_hand, user=delegate)
    note = issue_by_hand(delegate, draft.pk, fingerprint=fingerprint_draft(draft), origin=ORIGIN)
    assert f'href="/evidence/{by_hand.pk}"' in show(desk, note)
    assert f'href="/evidence/{note.pk}"' in show(desk, by_hand)
    assert outcomes_of(show(desk, note)) == [AGREES, UNKNOWN, AGREES]


def test_a_draft_is_no_evidence(desk, draft):
    for path in ("", *(f"/{kind}" for kind in OriginalKind)):
        assert desk.get(f"/evidence/{draft.pk}{path}").status_code == 404
    assert str(draft) not in main_of(desk.get("/evidence"))
    assert numbers_in(desk.get(f"/evidence?search={draft.draft_code}")) == []


# Signatures


def sign(document: Document, **lies: Any) -> Signature:
    """Keep the signature of the person who approved the document, or what lies of it."""
    approval = ApprovalRequest.objects.get(executed_at__isnull=False)
    passkey, person = SoftPasskey(), approval.delegated_user
    told = {
        "purpose": "approve",
        "approval": str(approval.pk),
        "record": None,
        "user": str(person.pk),
        "nonce_digest": approval.nonce_digest,
        "fingerprint": approval.fingerprint,
        "decision": "approved",
        "random": "x",
    }
    challenge = canonical_json(told | lies)
    sent = json.loads(passkey.sign(sha256(challenge.encode()).digest()))["response"]
    kept = passkey.keep_for(person)
    return Signature.objects.create(
        purpose="approve",
        record_id=approval.pk,
        person=person,
        passkey=kept,
        public_key=kept.public_key,
        origin=f"https://{HOST}",
        relying_party=HOST,
        challenge=challenge,
        client_data=sent["clientDataJSON"],
        authenticator_data=sent["authenticatorData"],
        signature=sent["signature"],
        facts=approval.facts,
        fingerprint=approval.fingerprint,
        demand="{}",
        signed_at=cast("datetime", approval.decided_at),
    )


def test_a_signed_approval_says_who_signed_and_that_it_holds(desk, by_agent, delegate):
    assert "Not signed" in show(desk, by_agent)
    sign(by_agent)
    page = re.sub("</?bdi>", "", show(desk, by_agent))
    assert f"with a passkey of {delegate.name} at {HOST}" in re.sub(r"\s+", " ", page)
    assert outcomes_of(page) == [AGREES] * 5


@pytest.mark.parametrize(
    "lies",
    [{"approval": "another"}, {"fingerprint": "0" * 64}, {"user": "another"}],
    ids=lambda lies: next(iter(lies)),
)
def test_a_signature_over_something_else_does_not_agree(desk, by_agent, lies):
    sign(by_agent, **lies)
    assert outcomes_of(show(desk, by_agent)) == [AGREES, AGREES, AGREES, DIFFERS, AGREES]


@pytest.mark.parametrize("column", ["signature", "public_key", "client_data", "challenge"])
def test_a_signature_that_was_changed_since_does_not_agree(desk, by_agent, column):
    signature = sign(by_agent)
    changed = getattr(signature, column).swapcase()
    with without_triggers("agent_passkeys"):
        Signature.objects.update(**{column: changed})
    assert outcomes_of(show(desk, by_agent)) == [AGREES, AGREES, AGREES, DIFFERS, AGREES]


def test_a_signature_that_was_demanded_and_is_not_there_is_missed(desk, by_agent):
    with without_triggers("agent_approvals"):
        ApprovalRequest.objects.filter(executed_at__isnull=False).update(
            demand='{"by": ["always"]}'
        )
    page = show(desk, by_agent)
    assert outcomes_of(page) == [AGREES, DIFFERS, AGREES, DIFFERS, AGREES]
    assert "A signature was demanded, and there is" in page


# The list


def numbers_in(answer: Any) -> list[str]:
    return re.findall(r'class="record"[^>]*>([^<]+)<', main_of(answer))


def test_the_list_has_all_issued_documents_of_all_customers_page_by_page(desk, company):
    user, customer = make_staff(), CustomerFactory.create()
    made = [str(make_issued(customer=customer, user=user).number) for _ in range(PAGE_LENGTH + 1)]
    first = desk.get("/evidence")
    assert numbers_in(first) == made[:0:-1]
    [older] = re.findall(r'href="(\?[^"]*)">Older', main_of(first))
    second = desk.get("/evidence" + older.replace("&amp;", "&"))
    assert numbers_in(second) == made[:1]


def test_the_list_is_searched_and_filtered(desk, company):
    north = CustomerFactory.create(name="Nordwind")
    first = make_issued(customer=north, reference="PO 1")
    second = make_issued(issue_date=date(2025, 12, 31))
    note = issue_document(make_correction(first), clock=at(ISSUED_AT))
    series = {each.year: each for each in NumberSeries.objects.filter(type=DocumentType.INVOICE)}
    cases = {
        "": [note, second, first],
        "search=nordw": [note, first],
        f"search={second.number}": [second],
        "type=credit_note": [note],
        "type=invoice&search=nordw": [first],
        "issued_until=2025-12-31": [second],
        "issued_from=2026-01-01&type=invoice": [first],
        f"series={series[2025].pk}": [second],
        f"series={series[2026].pk}&search=PO": [first],
        "search=nothing": [],
        # What is no filter filters nothing, and is told.
        "series=x&type=y&issued_from=z": [note, second, first],
        "issued_from=2026-01-01&issued_until=2025-01-01": [note, first],
        "series=%00": [note, second, first],
    }
    for query, found in cases.items():
        assert numbers_in(desk.get(f"/evidence?{query}")) == list(map(str, found)), query
    assert "No issued document was found" in main_of(desk.get("/evidence?search=nothing"))


def test_a_list_of_any_length_takes_the_same_queries(desk, company):
    make_issued()
    with CaptureQueriesContext(database) as few:
        desk.get("/evidence")
    for _ in range(3):
        make_issued()
    with CaptureQueriesContext(database) as more:
        desk.get("/evidence")
    assert len(more) == len(few)


# The files


@pytest.fixture
def kept(by_hand) -> Original:
    return keep_pdf(by_hand, PDF)


def test_a_kept_file_is_shown_with_its_digest_and_downloaded_with_an_event(desk, by_hand, kept):
    page = show(desk, by_hand)
    assert f"SHA-256 {kept.digest}" in page
    before = len(acts_written())
    answer = desk.get(f"/evidence/{by_hand.pk}/pdf")
    assert (answer.content, answer["Content-Type"]) == (PDF, "application/pdf")
    download = ("document:downloaded", str(by_hand.pk), f"pdf {kept.digest}")
    assert acts_written()[before:] == [download]
    assert AuditEvent.objects.latest("id").actor_id == answer.wsgi_request.user.pk


def test_a_file_that_was_not_kept_is_not_made(desk, by_hand):
    assert "No file of it is kept yet" in show(desk, by_hand)
    with nothing_changes():
        assert desk.get(f"/evidence/{by_hand.pk}/pdf").status_code == 404


def test_a_kept_file_that_was_changed_is_said_to_be_another(desk, by_hand, kept):
    assert "Another file" not in show(desk, by_hand)
    with without_triggers("invoices"):
        Original.objects.update(content=b"%PDF-1.7 forged")
    assert "Does not match its digest" in show(desk, by_hand)
