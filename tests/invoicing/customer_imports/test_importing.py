"""An import is one act: all of it or nothing, within the reach of who asks for it."""

import hashlib

import pytest
from django.db import OperationalError, connection

from agent_access.models import AuditEvent
from invoicing.access import Permission
from invoicing.errors import ConflictError, PermissionMissingError, RecordNotFoundError
from invoicing.models import Customer, CustomerImport
from invoicing.services.customers import change_customer
from tests.factories import CustomerFactory, make_draft, withdraw
from tests.invoicing.customer_imports.imports import (
    customers,
    plan_of,
    run,
    start,
    told,
    upload,
)
from tests.invoicing.word_table import kept_rows, true_rows
from tests.snapshots import take_snapshot
from tests.threads import run_together

pytestmark = pytest.mark.django_db

HEADER = "Kundennummer;Name;PLZ;Ort;Land;USt-IdNr."


def test_an_import_adds_and_changes_customers_and_is_audited_by_counts_and_a_digest(delegate):
    known = CustomerFactory.create(customer_number="1", name="Old", postcode="1", vat_number="")
    CustomerFactory.create(customer_number="4", name="Other", postcode="", vat_number="")
    lines = (HEADER, "1;New;;Bremen;;", "2;Second;20;Kiel;AT;", "2a;;;;;", "4;Other;;;;")
    content = "\n".join(lines).encode()
    kept = upload(delegate, *lines)
    assert list(start(delegate, kept)) == [(0, 2), (1, 2), (2, 2)]
    assert customers() == [
        ("1", "New", "1", "Bremen", "NL", ""),
        ("2", "Second", "20", "Kiel", "AT", ""),
        ("4", "Other", "", "Amsterdam", "NL", ""),
    ]
    assert Customer.objects.get(customer_number="1").pk == known.pk
    event = AuditEvent.objects.get(action="customers:imported")
    digest = hashlib.sha256(content).hexdigest()
    assert event.detail == f"new 1, changed 1, sha256 {digest}"
    assert (event.actor_id, event.target) == (delegate.pk, str(kept.pk))
    assert not CustomerImport.objects.exists()


def test_searches_find_customers_and_their_drafts_by_the_names_that_were_imported(delegate):
    for number, name in enumerate(["Alpha One", "Beta", "Gamma"]):
        customer = CustomerFactory.create(customer_number=str(number), name=name)
        make_draft(user=delegate, customer=customer)
    run(delegate, "Number,Name", "0,Alpha Two", "1,Delta", "2,Gamma", "3,Epsilon")
    assert kept_rows() == true_rows()


def test_the_same_file_twice_makes_nothing_twice(delegate):
    lines = (HEADER, "1;A;1;Bremen;DE;DE136695976", ";B;2;Kiel;DE;", "3;B;2;;;DE136695976")
    run(delegate, *lines)
    before = take_snapshot("invoices")
    assert [outcome for _, outcome, _ in told(plan_of(delegate, *lines))] == ["unchanged"] * 3
    assert run(delegate, *lines) == [(0, 0)]
    assert take_snapshot("invoices") == before


@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_import_that_is_given_up_half_way_leaves_nothing_half(delegate, monkeypatch, at):
    monkeypatch.setattr("invoicing.customer_imports.waiting.AT_ONCE", 1)
    CustomerFactory.create(customer_number="1", name="Old")
    kept = upload(delegate, "Number,Name", "1,New", "2,Second", "3,Third")
    before, events = take_snapshot(), AuditEvent.objects.count()
    steps = start(delegate, kept)
    for done in range(at + 1):
        assert next(steps) == (done, 3)
    steps.close()
    assert take_snapshot() == before
    assert AuditEvent.objects.count() == events


def test_what_changed_since_the_preview_is_not_overwritten(delegate):
    customer = CustomerFactory.create(customer_number="1", name="A", city="Hamburg")
    kept = upload(delegate, "Number,City", "1,Bremen")
    steps = start(delegate, kept)
    change_customer(customer.pk, city="Kiel")
    before = take_snapshot()
    with pytest.raises(ConflictError):
        list(steps)
    assert take_snapshot() == before


def test_a_file_is_imported_once_and_by_whom_it_was_uploaded(delegate, colleague):
    kept = upload(delegate, "Number,Name", "1,A")
    first, second, stolen = start(delegate, kept), start(delegate, kept), start(colleague, kept)
    with pytest.raises(RecordNotFoundError):
        list(stolen)
    list(first)
    with pytest.raises(RecordNotFoundError):
        list(second)
    assert Customer.objects.count() == 1


def test_a_file_that_is_given_up_while_it_is_imported_leaves_nothing(delegate):
    steps = start(delegate, upload(delegate, "Number,Name", "1,A"))
    next(steps)
    CustomerImport.objects.all().delete()
    with pytest.raises(RecordNotFoundError):
        list(steps)
    assert not Customer.objects.exists()
    assert not AuditEvent.objects.filter(action="customers:imported").exists()


# On SQLite a writer locks the whole database.
@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_imports_take_turns_while_others_upload_and_give_up(delegate, colleague):
    lines = ("Number,Name", "1,A")
    steps = start(delegate, upload(delegate, *lines))
    next(steps)

    def work_meanwhile() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '100ms'")
        upload(colleague, "Name", "B")
        with pytest.raises(OperationalError, match="lock timeout"):
            run(colleague, *lines)
        upload(delegate, *lines)  # which takes the place of the one that is imported

    run_together([work_meanwhile])
    with pytest.raises(RecordNotFoundError):
        list(steps)
    assert not Customer.objects.exists()
    assert run(delegate, *lines) == [(0, 1), (1, 1)]


def test_who_does_not_see_all_customers_changes_their_own_only_and_manages_those_they_add(stranger):
    hidden = CustomerFactory.create(customer_number="1", name="Hidden", city="Hamburg")
    own = CustomerFactory.create(
        customer_number="2", name="Own", city="Hamburg", account_managers=[stranger]
    )
    lines = ("Number,Name,City", "1,Taken,Bremen", "2,Own,Bremen")
    run(stranger, *lines)
    hidden.refresh_from_db()
    own.refresh_from_db()
    assert (hidden.name, hidden.city, own.city) == ("Hidden", "Hamburg", "Bremen")
    [added] = Customer.objects.exclude(pk__in=[hidden.pk, own.pk])
    assert [*added.account_managers.all()] == [stranger]
    assert not hidden.account_managers.exists()
    assert [outcome for _, outcome, _ in told(plan_of(stranger, *lines))] == ["unchanged"] * 2


@pytest.mark.parametrize(
    ("permission", "at"),
    [
        (Permission.MANAGE_CUSTOMERS, "start"),
        (Permission.VIEW_CUSTOMER, "start"),
        (Permission.MANAGE_CUSTOMERS, "end"),
        (Permission.VIEW_CUSTOMER, "end"),
        # Whoever sees only some customers may import too, but not into all.
        (Permission.VIEW_ALL_CUSTOMERS, "end"),
    ],
)
def test_a_permission_that_is_withdrawn_meanwhile_stops_it(delegate, permission, at):
    kept = upload(delegate, "Number,Name", "1,A")
    before = take_snapshot()
    steps = start(delegate, kept)
    if at == "end":
        next(steps)
    withdraw(delegate, permission)
    with pytest.raises(PermissionMissingError):
        list(steps)
    after = take_snapshot()
    del before["invoices.User_user_permissions"], after["invoices.User_user_permissions"]
    assert after == before


def test_a_session_that_ends_meanwhile_stops_it(delegate):
    steps = start(delegate, upload(delegate, "Number,Name", "1,A"))
    next(steps)
    delegate.session_revision += 1
    delegate.save(update_fields=["session_revision"])
    with pytest.raises(PermissionMissingError):
        list(steps)
    assert not Customer.objects.exists()


def test_thousands_of_rows_are_written_in_few_statements(delegate, django_assert_max_num_queries):
    lines = [HEADER, *(f"{n};Customer {n};20457;Hamburg;DE;" for n in range(2000))]
    with django_assert_max_num_queries(100):
        run(delegate, *lines)
    assert Customer.objects.count() == 2000
    changed = [HEADER, *(f"{n};Customer {n};20457;Bremen;DE;" for n in range(2000))]
    with django_assert_max_num_queries(100):
        assert run(delegate, *changed)[-1] == (2000, 2000)
    assert set(Customer.objects.values_list("city", flat=True)) == {"Bremen"}
