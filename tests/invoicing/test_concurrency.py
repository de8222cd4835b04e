"""Real transactions in threads; SQLite lets one write at a time, so these are PostgreSQL's."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from agent_access.approvals.engine import lock_approval
from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import ApprovalRequest, Decision
from invoicing.errors import ConflictError
from invoicing.identifiers import new_id
from invoicing.locks import lock_draft, lock_record
from invoicing.models import Company, Customer, Document, Line, NumberSeries, User
from invoicing.sample_company.loading import CompanyExistsError, load_sample_company
from invoicing.services.issuing import issue_document
from tests.approvals import prepare
from tests.clocks import at
from tests.factories import ISSUED_AT, CompanyFactory, make_correction, make_draft, make_issued
from tests.threads import THREADS, Encounter, in_threads, is_lock_awaited, run_together

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def state_after(act: Callable[[], object]) -> str:
    """Return "done", or the state of the approval that refused the act."""
    try:
        act()
    except ApprovalStateError as refusal:
        return refusal.state
    return "done"


def test_twenty_approvals_of_one_draft_issue_it_once(delegate: User, draft: Document) -> None:
    prepared = [prepare(draft, user=delegate) for _ in range(THREADS)]
    for each in prepared:
        each.decide()
    outcomes = in_threads(lambda each: state_after(each.execute), prepared)
    assert Counter(outcomes) == {"done": 1, "stale": THREADS - 1}
    assert NumberSeries.objects.get().last_value == 1


def test_approving_and_rejecting_at_once_is_one_decision(delegate: User, draft: Document) -> None:
    prepared = prepare(draft, user=delegate)
    decisions = list(Decision) * (THREADS // 2)
    outcomes = in_threads(lambda each: state_after(partial(prepared.decide, each)), decisions)
    decided = decisions[outcomes.index("done")]
    assert Counter(outcomes) == {"done": 1, decided.value: THREADS - 1}
    assert ApprovalRequest.objects.get().decision == decided


def test_an_approval_is_locked_before_its_document_and_that_before_its_customer(
    delegate: User, draft: Document
) -> None:
    encounter, pk = Encounter(), prepare(draft, user=delegate).approval.pk

    def hold_the_document() -> None:
        with transaction.atomic():
            lock_record(Document.objects.all(), draft.pk)
            encounter.wait_here()
            with pytest.raises(OperationalError), transaction.atomic():
                ApprovalRequest.objects.select_for_update(nowait=True).get()
            assert Customer.objects.select_for_update(nowait=True).get() == draft.customer

    def lock_all() -> None:
        with transaction.atomic():
            encounter.come(lambda: lock_approval(pk, seen_by=None))

    run_together([hold_the_document, lock_all])


def test_a_draft_is_locked_with_its_customer() -> None:
    """So that the name that was compared with what was approved is the one that is frozen."""
    draft = make_draft()

    def is_free() -> bool:
        try:
            with transaction.atomic():
                Customer.objects.select_for_update(nowait=True).get()
        except OperationalError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(is_free).result()
        with transaction.atomic():
            lock_draft(draft.pk, visible_to=None)
            assert not thread.submit(is_free).result()


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


def issue_by_service(draft: Document) -> None:
    issue_document(draft, clock=at(ISSUED_AT))


def issue_by_sql(draft: Document) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE invoices_document SET status = 'issued', number = draft_code, issued_at = now(),
                series_id = (SELECT id FROM invoices_numberseries),
                series_value = random() * 1000000
            WHERE id = %s
            """,
            [draft.pk],
        )


@pytest.mark.parametrize(
    ("issue", "told"),
    [
        (issue_by_service, "LESS_IS_LEFT"),
        (issue_by_sql, "A correction takes back no more than is left of its invoice."),
    ],
)
def test_of_two_corrections_issued_at_once_that_take_back_the_same_one_wins(
    delegate: User, issue: Callable[[Document], None], told: str
) -> None:
    invoice = make_issued(user=delegate)

    def outcome_of(draft: Document) -> str:
        try:
            issue(draft)
        except (ConflictError, IntegrityError) as refusal:
            return str(refusal).partition("\n")[0]
        return "issued"

    drafts = [make_correction(invoice) for _ in range(2)]
    outcomes = run_together([partial(outcome_of, draft) for draft in drafts])
    assert Counter(outcomes) == {"issued": 1, told: 1}
    assert Document.objects.filter(status="issued", corrects=invoice).count() == 1
