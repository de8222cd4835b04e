import json
import re
from collections import Counter
from datetime import date
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import check_password
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import Count, F, Q

from invoicing.access import Permission
from invoicing.models import (
    Company,
    Customer,
    Document,
    NumberSeries,
    TaxRate,
    TaxRow,
    Team,
    TimeOff,
    User,
    WorkingHours,
)
from invoicing.sample_company import loading
from invoicing.vat_numbers import is_vat_number_valid
from tests.factories import CompanyFactory
from tests.snapshots import take_snapshot

# What it says is the same on both.
pytestmark = pytest.mark.sqlite

PASSWORD = "one-password-for-all-of-them"
VIEW = {Permission.VIEW_CUSTOMER, Permission.VIEW_DOCUMENT, Permission.VIEW_PERSON}
# An auditor may read evidence, and nobody else needs to.
EVERYTHING = set(Permission) - {Permission.AUDIT}


def load(**options: Any) -> str:
    output = StringIO()
    call_command("load_sample_company", stdout=output, **{"force": True, **options})
    return output.getvalue()


def person(mailbox: str) -> User:
    return User.objects.get(email=f"{mailbox}@halden.example")


@pytest.fixture
def halden(db: None) -> Company:
    load(password=PASSWORD)
    return Company.objects.get()


@pytest.fixture
def halden_without_documents(db: None) -> Company:
    load(password=PASSWORD, documents=0)
    return Company.objects.get()


def test_the_company_has_the_people_and_customers_that_it_should(halden_without_documents):
    assert halden_without_documents.name == "Halden Works"
    assert halden_without_documents.owner == person("olivia")
    assert User.objects.count() == 30
    assert User.objects.listed().count() == 28
    assert Customer.objects.count() == 60
    assert Customer.objects.filter(is_active=False).count() == 3
    assert (Team.objects.count(), Team.objects.listed().count()) == (5, 4)
    rates = TaxRate.objects.order_by("id")
    assert [rate.percentage for rate in rates] == ["19", "7", "0", "8.875", "16", "0", "0", "0"]
    assert [rate.category for rate in rates] == ["S", "S", "G", "S", "S", "AE", "K", "O"]
    assert [rate.name for rate in rates if not rate.is_active] == ["Standard rate of 2020"]


def test_every_vat_number_is_valid(halden_without_documents):
    parties = [halden_without_documents, *Customer.objects.exclude(vat_number="")]
    assert len(parties) == 52
    assert [
        each.vat_number
        for each in parties
        if not is_vat_number_valid(each.country, each.vat_number)
    ] == []


def test_the_cast_may_do_what_its_roles_say(halden_without_documents):
    def permissions_of(mailbox: str) -> set[str]:
        return {each for each in Permission if person(mailbox).has_perm(each)}

    assert permissions_of("olivia") == EVERYTHING
    assert permissions_of("dana") == EVERYTHING
    assert permissions_of("milo") == VIEW | {Permission.MANAGE}
    assert permissions_of("vera") == VIEW | {Permission.VIEW_ALL_CUSTOMERS}
    assert permissions_of("noor") == set()
    assert not User.objects.filter(is_superuser=True).exists()
    assert list(User.objects.filter(is_guest=True)) == [person("gwen")]
    assert list(User.objects.filter(is_active=False)) == [person("ivan")]


def test_an_account_manager_sees_some_customers_and_a_viewer_all(halden_without_documents):
    assert 0 < Customer.objects.visible_to(person("milo")).count() < 60
    assert Customer.objects.visible_to(person("vera")).count() == 60


def test_everybody_has_one_password_and_the_deactivated_cannot_use_it(halden_without_documents):
    assert authenticate(username="dana@halden.example", password=PASSWORD) == person("dana")
    assert authenticate(username="ivan@halden.example", password=PASSWORD) is None
    assert all(check_password(PASSWORD, each.password) for each in User.objects.all()[:3])
    assert User.objects.values("password").distinct().count() == 1


def test_people_have_managers_teams_hours_and_private_facts(halden_without_documents):
    without_manager = User.objects.filter(manager=None).order_by("id")
    assert list(without_manager) == [person("olivia"), person("gwen")]
    assert not Team.objects.annotate(count=Count("members")).filter(count=0).exists()
    assert not Team.objects.annotate(count=Count("leads")).filter(count=0).exists()
    assert User.objects.filter(working_hours=None).get() == person("gwen")
    assert WorkingHours.objects.filter(weekday=6).exists()
    assert User.objects.values("time_zone").distinct().count() > 10
    assert not User.objects.filter(private_phone="").exists()
    assert TimeOff.objects.count() == 10
    emails = User.objects.values_list("email", "private_email")
    assert all(address.endswith("halden.example") for pair in emails for address in pair)


def test_there_are_drafts_and_issued_invoices_in_four_currencies(halden):
    kinds = Counter(Document.objects.values_list("type", "status"))

    assert kinds == {
        ("invoice", "issued"): 84,
        ("invoice", "draft"): 35,
        ("credit_note", "issued"): 1,
    }
    for status in ("draft", "issued"):
        codes = Document.objects.filter(status=status).values_list("currency_code", flat=True)
        assert set(codes) == {"EUR", "USD", "JPY", "BHD"}
    assert Document.objects.filter(customer__is_active=False).exists()
    assert not Document.objects.filter(due_date__lt=F("issue_date")).exists()


def test_what_is_issued_lacks_nothing_of_what_the_law_wants(halden):
    def count(**facts: Any) -> int:
        return Document.objects.filter(status="issued", type="invoice", **facts).count()

    note = Document.objects.get(type="credit_note")
    assert note.corrects is not None
    assert (note.number, note.corrects.language) == ("CN-2026-0001", "de")
    assert 0 < note.grand_total < note.corrects.grand_total
    within = Document.objects.filter(status="issued", tax_rows__category="K")
    assert within.exists()
    assert not within.filter(Q(supply_date=None) | Q(delivery_country="")).exists()
    categories = TaxRow.objects.filter(document__status="issued").values_list("category", flat=True)
    assert set(categories) == {"S", "AE", "K", "G", "O"}
    assert count(supply_date=None) > 0
    assert count(supply_end_date__isnull=False) > 0
    assert count(national_currency="EUR") == count() - count(currency_code="EUR")


def test_the_numbers_run_without_a_gap_in_the_order_of_issue_dates(db):
    load(documents=40)
    issued = Document.objects.filter(status="issued", type="invoice").order_by("series_value")

    assert [document.number for document in issued] == [
        f"INV-2026-{value:04d}" for value in range(1, 29)
    ]
    dates = [document.issue_date for document in issued]
    assert dates == sorted(dates)
    assert dates[0] == date(2026, 1, 5)
    assert {each.type: each.last_value for each in NumberSeries.objects.all()} == {
        "invoice": 28,
        "credit_note": 1,
    }


def facts() -> list[object]:
    """Everything that a document says, without what is random: codes and identifiers."""
    return [
        (
            document.customer.name,
            document.issue_date,
            document.currency_code,
            document.grand_total,
            document.tax_total,
            document.created_by.email,
            document.number,
            [(line.description, line.quantity, line.net_amount) for line in document.lines.all()],
        )
        for document in Document.objects.order_by("id").prefetch_related("lines", "customer")
    ]


def test_the_content_is_the_same_every_time(db):
    contents = []
    for _ in range(2):
        with transaction.atomic():
            load(documents=20)
            contents.append(facts())
            transaction.set_rollback(True)

    assert len(contents[0]) == 20
    assert contents[0] == contents[1]


def test_a_load_test_gets_as_many_documents_as_asked_for(db, monkeypatch):
    monkeypatch.setattr(loading, "DEFAULT_DOCUMENTS", 5)

    output = load(documents=18, json=True)

    assert json.loads(output)["documents"] == Document.objects.count() == 18
    assert Document.objects.filter(status="issued", type="invoice").count() == 12
    assert Document.objects.filter(type="credit_note").count() == 1


def test_json_is_one_object_with_a_random_password(db, monkeypatch):
    monkeypatch.delenv("SAMPLE_PASSWORD", raising=False)

    told = json.loads(load(documents=0, json=True))

    password = told.pop("password")
    assert told == {
        "company": "Halden Works",
        "owner": "olivia@halden.example",
        "people": 30,
        "customers": 60,
        "documents": 0,
    }
    assert re.fullmatch(r"[A-Za-z0-9_-]{16}", password)
    assert person("noor").check_password(password)


@pytest.mark.parametrize(
    ("given", "valid"),
    [("from-the-command", "from-the-command"), (None, "from-the-environment")],
)
def test_a_password_that_was_given_is_used_and_not_told(db, monkeypatch, given, valid):
    monkeypatch.setenv("SAMPLE_PASSWORD", "from-the-environment")

    output = load(documents=0, password=given)

    assert output == (
        "Loaded Halden Works: 30 people, 60 customers, 0 documents."
        " The owner is olivia@halden.example.\n"
    )
    assert person("dana").check_password(valid)


def test_a_random_password_is_told_once(db, monkeypatch):
    monkeypatch.delenv("SAMPLE_PASSWORD", raising=False)

    output = load(documents=0)

    password = output.partition("shown only now: ")[2].strip()
    assert person("dana").check_password(password)


def test_what_cannot_be_loaded_changes_nothing(db, monkeypatch):
    def refusal(**options: Any) -> str:
        before = take_snapshot()
        with pytest.raises(CommandError) as refused:
            load(**options)
        assert take_snapshot() == before
        return str(refused.value)

    assert refusal(force=False) == (
        "BASE_URL is not this machine: made-up people with one password do not belong there."
        " --force loads them anyway."
    )
    assert refusal(documents=-1) == "The number of documents must not be negative."
    CompanyFactory.create()
    assert refusal() == "This database already has a company."
    monkeypatch.setenv("SAMPLE_PASSWORD", "\udcff")
    assert refusal() == "SAMPLE_PASSWORD is not text in UTF-8."


def test_a_load_that_is_stopped_with_ctrl_c_leaves_nothing(db, monkeypatch):
    monkeypatch.setattr(loading, "retire_customers", Mock(side_effect=KeyboardInterrupt))
    before = take_snapshot()

    with pytest.raises(CommandError, match=r"^Stopped before it was done\.$"):
        load(documents=3)

    assert take_snapshot() == before
