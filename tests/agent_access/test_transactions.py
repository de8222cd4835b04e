"""The transactions of a read: one moment of the data, and no wait for the disk."""

from threading import Thread

import pytest
from django.db import IntegrityError, InternalError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from agent_access.database.transactions import relaxed_commit, snapshot
from invoicing.models import Customer
from tests.factories import CustomerFactory

pytestmark = pytest.mark.django_db(transaction=True)


def read_setting() -> object:
    name = "PRAGMA synchronous" if connection.vendor == "sqlite" else "SHOW synchronous_commit"
    with connection.cursor() as cursor:
        cursor.execute(name)
        return cursor.fetchone()[0]


FULL, RELAXED = {"sqlite": (2, 1), "postgresql": ("on", "off")}[connection.vendor]


def run_elsewhere(act) -> None:
    """Run in another thread, and so on another connection to the database."""

    def run() -> None:
        try:
            act()
        finally:
            connections.close_all()

    thread = Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.sqlite
def test_a_relaxed_commit_is_for_its_own_transaction_only():
    assert read_setting() == FULL
    with relaxed_commit():
        assert read_setting() == RELAXED
        CustomerFactory.create()
    assert read_setting() == FULL
    assert Customer.objects.count() == 1


@pytest.mark.sqlite
def test_a_relaxed_commit_that_fails_is_rolled_back_and_restored():
    customer_id = CustomerFactory.build().id
    with pytest.raises(IntegrityError), relaxed_commit():
        CustomerFactory.create_batch(2, id=customer_id)
    assert read_setting() == FULL
    assert not Customer.objects.exists()


def test_only_the_event_of_a_read_is_relaxed(agent, draft_body):
    with CaptureQueriesContext(connection) as of_read:
        agent.call("documents.list")
    with CaptureQueriesContext(connection) as of_write:
        agent.call("drafts.create", draft_body, key="one")
    with CaptureQueriesContext(connection) as of_refused_write:
        agent.call("drafts.create", {}, key="two")

    def relaxations(captured: CaptureQueriesContext) -> int:
        statements = [query["sql"].lower() for query in captured.captured_queries]
        return sum("synchronous" in statement for statement in statements)

    assert relaxations(of_read) > 0
    assert (relaxations(of_write), relaxations(of_refused_write)) == (0, 0)
    assert read_setting() == FULL


def test_a_snapshot_does_not_see_what_is_written_meanwhile():
    with snapshot():
        assert Customer.objects.count() == 0
        run_elsewhere(CustomerFactory.create)
        assert Customer.objects.count() == 0
    assert Customer.objects.count() == 1


@pytest.mark.sqlite
def test_a_snapshot_is_a_reader_and_what_follows_a_writer():
    with CaptureQueriesContext(connection) as captured:
        with snapshot():
            pass
        with transaction.atomic():
            pass
        with pytest.raises(ZeroDivisionError), snapshot():
            raise ZeroDivisionError
        with transaction.atomic():
            pass
    begun = [query["sql"] for query in captured if query["sql"].startswith("BEGIN")]
    assert begun == ["BEGIN DEFERRED", "BEGIN IMMEDIATE"] * 2


@pytest.mark.postgresql
def test_a_snapshot_takes_no_write():
    with pytest.raises(InternalError, match="read-only transaction"), snapshot():
        CustomerFactory.create()
    assert not Customer.objects.exists()
    CustomerFactory.create()


def test_a_snapshot_inside_another_transaction_is_part_of_it():
    with transaction.atomic():
        with snapshot():
            CustomerFactory.create()
        assert Customer.objects.count() == 1
