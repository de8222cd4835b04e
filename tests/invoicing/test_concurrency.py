"""Real transactions in threads; SQLite lets one write at a time, so these are PostgreSQL's."""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from invoicing.identifiers import new_id
from invoicing.locks import lock_approval, lock_record
from invoicing.models import Company, Customer, Document, IssueApproval, Line, NumberSeries, User
from invoicing.sample_company.loading import CompanyExistsError, load_sample_company
from invoicing.services.issuing import issue_document
from tests.approvals import prepare
from tests.clocks import at
from tests.factories import ISSUED_AT, CompanyFactory, CustomerFactory, make_draft, make_staff
from tests.threads import Encounter, in_threads, is_lock_awaited, run_together

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def test_twenty_threads_issue_fifty_drafts_without_gap_or_repetition() -> None:
    CompanyFactory.create()
    user, customer = make_staff(), CustomerFactory.create()
    drafts = [make_draft(user=user, customer=customer) for _ in range(50)]

    def issue(draft: Document) -> str | None:
        return issue_document(draft, clock=at(ISSUED_AT)).number

    numbers = in_threads(issue, drafts)
    assert sorted(map(str, numbers)) == [f"INV-2026-{value:04d}" for value in range(1, 51)]
    assert NumberSeries.objects.get().last_value == 50
    assert set(Document.objects.values_list("status", "lock_version")) == {("issued", 2)}


def test_an_approval_is_locked_before_its_document_and_that_before_its_customer(
    delegate: User, draft: Document
) -> None:
    encounter, pk = Encounter(), prepare(draft, user=delegate).approval.pk

    def hold_the_document() -> None:
        with transaction.atomic():
            lock_record(Document.objects.all(), draft.pk)
            encounter.wait_here()
            with pytest.raises(OperationalError), transaction.atomic():
                IssueApproval.objects.select_for_update(nowait=True).get()
            assert Customer.objects.select_for_update(nowait=True).get() == draft.customer

    def lock_all() -> None:
        with transaction.atomic():
            encounter.come(lambda: lock_approval(pk, visible_to=None))

    run_together([hold_the_document, lock_all])


def test_a_line_added_by_hand_cannot_overtake_an_issue_under_way() -> None:
    CompanyFactory.create()
    draft = make_draft()
    line = draft.lines.get()
    line.pk, line.position = new_id(), 1

    def add_line() -> None:
        try:
            line.save(force_insert=True)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            issue_document(draft, clock=at(ISSUED_AT))
            added = thread.submit(add_line)
            while not added.done() and not is_lock_awaited():
                wait([added], timeout=0.01)
        with pytest.raises(IntegrityError, match="issued document"):
            added.result()
    assert Line.objects.count() == 1


def test_of_two_sample_companies_loaded_at_once_one_is_refused() -> None:
    def load() -> str:
        try:
            load_sample_company(password="of-all-of-them", documents=0)
        except CompanyExistsError:
            return "refused"
        return "loaded"

    assert sorted(run_together([load, load])) == ["loaded", "refused"]
    assert Company.objects.count() == 1
