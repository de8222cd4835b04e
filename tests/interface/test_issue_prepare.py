"""What can be prepared, and how the nonce is kept."""

import pytest

from agent_access.approvals.models import ApprovalRequest
from agent_access.errors import ANSWER_GONE
from agent_access.models import AuditEvent, Receipt
from invoicing.errors import ConflictCause
from invoicing.models import Customer, Document, DocumentType, TaxRate
from tests.factories import line_input, make_correction, make_draft, make_issued
from tests.interface.issuing import decide, execute, prepare, read
from tests.interface.refusals import (
    NO_DRAFT_INVOICE,
    OLD_VERSION,
    audit_of,
    conflict,
    invalid,
    nothing_changes,
    refusal,
    seen,
)
from tests.snapshots import take_snapshot


def test_the_lock_version_must_be_sent(agent, draft):
    answer = agent.call("documents.issue_prepare", {}, id=draft.id, key="k")
    assert seen(answer) == invalid(("lock_version", "is required"))


@pytest.mark.requirement("error.conflict")
@pytest.mark.parametrize("lock_version", [2, 2**31 - 1])
def test_a_version_that_is_not_the_drafts_is_a_conflict(agent, connection, draft, lock_version):
    with nothing_changes():
        answer = prepare(agent, draft.id, lock_version=lock_version)
    assert seen(answer) == OLD_VERSION
    assert audit_of(connection) == [("documents.issue_prepare", "conflict")]


def test_a_version_before_the_last_change_is_a_conflict(agent, drafted, draft_body):
    changed = draft_body | {"lock_version": 1}
    agent.call("drafts.update", changed, id=drafted["id"], key="change")
    with nothing_changes():
        assert seen(prepare(agent, drafted["id"], lock_version=1)) == OLD_VERSION
    assert prepare(agent, drafted["id"], lock_version=2).status == 202


@pytest.mark.requirement("draft_input.editable_invoice")
def test_a_credit_note_and_an_issued_invoice_are_not_prepared(agent):
    note, invoice = make_draft(document_type=DocumentType.CREDIT_NOTE), make_issued()
    for document in (note, invoice, make_correction(invoice)):
        with nothing_changes():
            answer = prepare(agent, document.id, lock_version=document.lock_version)
        assert seen(answer) == NO_DRAFT_INVOICE


@pytest.mark.parametrize("model", [Customer, TaxRate])
def test_an_inactive_customer_or_rate_is_a_conflict_that_says_so(agent, connection, drafted, model):
    model.objects.update(is_active=False)

    with nothing_changes():
        answer = prepare(agent, drafted["id"])

    assert seen(answer) == conflict(ConflictCause.INACTIVE_REFERENCE)
    assert "is no longer active" in answer.error["message"]
    assert audit_of(connection)[-1] == ("documents.issue_prepare", "conflict")


def test_a_rate_changed_under_the_draft_is_a_conflict(agent, drafted):
    TaxRate.objects.update(percentage_ten_thousandths=70_000)
    with nothing_changes():
        answer = prepare(agent, drafted["id"])
    assert seen(answer) == conflict(ConflictCause.OTHER_TOTALS)


def test_an_inactive_rate_that_no_line_uses_is_in_nobodys_way(agent, draft, tax_rate):
    TaxRate.objects.update(is_active=False)
    assert prepare(agent, draft.id).status == 202


@pytest.mark.requirement("permissions.checked_on_issue")
def test_an_account_manager_prepares_the_documents_of_their_customers(connect, stranger, customer):
    customer.account_managers.add(stranger)
    own = make_draft(customer=customer)
    _, agent = connect(stranger)

    assert prepare(agent, own.id).status == 202
    assert seen(prepare(agent, make_draft().id, key="hidden")) == refusal("not_found")


def test_the_nonce_stands_nowhere_in_plain_form(agent, prepared):
    decide(prepared)
    execute(agent, prepared)

    everything = str(take_snapshot()) + str(list(AuditEvent.objects.values()))
    assert prepared["approval_id"].replace("-", "") in everything.replace("-", "")
    assert prepared["nonce"] not in everything


def test_the_receipt_of_a_preparation_is_encrypted_and_the_answer_stays_the_same(agent, draft):
    first = prepare(agent, draft.id)
    receipt = Receipt.objects.get()
    assert (receipt.tool, receipt.status, receipt.is_encrypted) == (
        "documents.issue_prepare",
        202,
        True,
    )
    assert first.data["approval_id"] not in receipt.answer
    assert "review_url" not in receipt.answer

    with nothing_changes():
        again = prepare(agent, draft.id)

    assert (again.status, again.content) == (202, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert ApprovalRequest.objects.count() == 1


def test_a_receipt_of_an_execution_holds_no_secret_and_is_not_encrypted(agent, prepared):
    decide(prepared)
    answer = execute(agent, prepared)
    receipt = Receipt.objects.get(tool="documents.issue")
    assert (receipt.is_encrypted, receipt.answer) == (False, answer.content.decode())


def test_a_rotated_secret_key_still_reads_the_receipt_while_it_is_a_fallback(
    agent, draft, settings
):
    first = prepare(agent, draft.id)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-thirty-two-characters"

    assert prepare(agent, draft.id).content == first.content

    settings.SECRET_KEY_FALLBACKS = []
    with nothing_changes():
        answer = prepare(agent, draft.id)
    assert seen(answer) == refusal("conflict", ANSWER_GONE, fields=["Idempotency-Key"])
    # The approval itself does not stand on the key.
    decide(first.data)
    assert execute(agent, first.data).status == 200


def test_what_is_sealed_after_a_rotation_needs_no_fallback(agent, draft, settings):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-thirty-two-characters"
    first = prepare(agent, draft.id)
    settings.SECRET_KEY_FALLBACKS = []
    assert prepare(agent, draft.id).content == first.content


def test_every_preparation_is_an_approval_of_its_own(agent, draft):
    first, second = (prepare(agent, draft.id, key=key).data for key in ("one", "two"))
    assert first["approval_id"] != second["approval_id"]
    assert first["nonce"] != second["nonce"]
    decide(first)
    assert [read(agent, each)["status"] for each in (first, second)] == ["approved", "pending"]
    assert seen(execute(agent, first, nonce=second["nonce"])) == refusal("not_found")


def test_an_approval_shows_what_was_prepared_though_the_draft_was_changed(
    agent, draft_body, drafted, prepared
):
    changed = draft_body | {"lock_version": 1, "due_date": "2026-05-01", "reference": "PO 8"}
    agent.call("drafts.update", changed, id=drafted["id"], key="change")
    Customer.objects.update(name="Renamed")

    told = {name: fact for name, fact in prepared.items() if name != "nonce"}
    assert read(agent, prepared) == told | {
        "status": "stale",
        "stale_fields": ["lock_version", "customer.name", "due_date", "reference"],
    }


def test_a_preparation_counts_every_line(agent, delegate, customer):
    lines = tuple(line_input(unit_price=price) for price in range(100))
    draft = make_draft(user=delegate, customer=customer, lines=lines)
    assert prepare(agent, draft.id).data["grand_total"] == str(Document.objects.get().grand_total)
    assert Document.objects.get().grand_total == 2 * sum(range(100))
