"""The pages of an import: the file, the preview with its columns, and the import as it runs."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from invoicing.access import Permission
from invoicing.customer_imports import reading
from invoicing.customer_imports.waiting import find_waiting
from invoicing.models import Customer, CustomerImport
from invoicing.services.customers import change_customer
from invoicing.web import customer_imports
from tests.browsers import Browser
from tests.factories import CustomerFactory, make_staff
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, read_form
from tests.web.test_guards import refuse_to_write

FILE = "Kundennummer;Name;PLZ;Land;Notiz\n1;Müller;20457;Österreich;gut\n2;<b>Böse</b>;;Narnia;\n"


def send(desk: Any, content: str | bytes = FILE, name: str = "kunden.csv") -> Any:
    content = content.encode() if isinstance(content, str) else content
    return desk.post("/customers/import", {"file": SimpleUploadedFile(name, content)})


def plain(answer: Any) -> str:
    """Return the words of the page's main part."""
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", main_of(answer))).split())


def confirm(desk: Any, path: str) -> str:
    """Press the button of the preview, and return what the page says in the end."""
    shown = re.search(r'name="seen" value="(\w+)"', desk.get(path).content.decode())
    return run(desk, path, shown[1] if shown else "")


def run(desk: Any, path: str, seen: str) -> str:
    answer = desk.post(path, {"import": "", "seen": seen})
    assert (answer.status_code, answer["X-Accel-Buffering"]) == (200, "no")
    page = b"".join(answer).decode()
    assert page.rstrip().endswith("</html>")
    [said] = re.findall(r'<div class="notice[^"]* result">(.*?)</div>', page, re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", said).split())


def test_a_file_is_shown_before_it_is_imported(desk):
    path = send(desk)["Location"]
    said = plain(desk.get(path))
    assert "kunden.csv Nothing is imported yet. 4 of 5 columns are imported" in said
    assert "Left out 1 New 1 Changed 0 Unchanged 0" in said
    problem = "Country: Select a valid choice. Narnia is not one of the available choices."
    assert f"3 <b>Böse</b> 2 {problem}" in said
    assert "Import 1 customer" in said
    new = plain(desk.get(f"{path}?show=new"))
    assert "2 Müller 1 Customer number: 1 Name: Müller Postcode: 20457 Country: AT" in new
    left_out = desk.get(f"{path}/left-out")
    assert left_out.content.decode() == f"Line 3: {problem}\r\n"
    assert left_out["Content-Type"] == "text/plain; charset=utf-8"
    assert not Customer.objects.exists()

    assert confirm(desk, path) == "1 customer imported."
    assert Customer.objects.get().name == "Müller"
    assert not CustomerImport.objects.exists()
    assert desk.get(path).status_code == 404


def test_what_changes_is_shown_before_and_after(desk):
    CustomerFactory.create(customer_number="1", name="Müller", city="Hamburg")
    path = send(desk, "Number,City,E-mail\n1,Bremen,a@b.example\n")["Location"]
    page = main_of(desk.get(path))
    assert "<del>Hamburg</del> <ins>Bremen</ins>" in page
    assert "1 Müller" not in plain(desk.get(f"{path}?show=new"))
    assert "There are no such rows." in plain(desk.get(f"{path}?show=new"))


def test_columns_are_corrected_by_hand(desk):
    path = send(desk, "A,B,Ort\n7,Acme,Kiel\n")["Location"]
    page = desk.get(path)
    assert "Choose the column of the customer number, or that of the name." in plain(page)
    assert "Import 1 customer" not in plain(page)
    fields = {"column-0": "customer_number", "column-1": "city", "column-2": "city", "columns": ""}
    refused = desk.post(path, fields)
    assert refused.status_code == 422
    assert "More than one column is “City”." in plain(refused)
    assert desk.post(path, fields | {"column-1": "bank"}).status_code == 422
    assert CustomerImport.objects.get().columns == ["", "", "city"]
    assert desk.post(path, fields | {"column-1": "name"}).status_code == 302
    assert confirm(desk, path) == "1 customer imported."
    acme = Customer.objects.get()
    assert (acme.customer_number, acme.name, acme.city) == ("7", "Acme", "Kiel")


def test_columns_of_a_file_that_was_given_up_meanwhile_are_not_kept(desk, monkeypatch):
    def read_too_late(content: bytes) -> reading.Table:
        CustomerImport.objects.all().delete()
        return reading.read_table(content)

    path = send(desk, "A\n7\n")["Location"]
    monkeypatch.setattr("invoicing.web.customer_imports.read_table", read_too_late)
    assert desk.post(path, {"column-0": "name", "columns": ""}).status_code == 404
    assert not CustomerImport.objects.exists()


def test_every_bad_row_is_reachable(desk):
    lines = "".join(f"{number},x,Narnia\n" for number in range(30))
    path = send(desk, f"Number,Name,Country\n{lines}")["Location"]
    first = desk.get(path)
    second = plain(desk.get(path + first.context["listing"].next_href))
    assert "There is nothing to import." in plain(first)
    assert [f"{line} x {line - 2}" in plain(first) for line in (2, 26, 27)] == [True, True, False]
    assert [f"{line} x {line - 2}" in second for line in (26, 27, 31)] == [False, True, True]
    assert len(desk.get(f"{path}/left-out").content.splitlines()) == 30


def test_what_changed_since_the_preview_is_shown_again(desk):
    customer = CustomerFactory.create(customer_number="1", city="Hamburg")
    path = send(desk, "Number,City\n1,Bremen\n")["Location"]
    seen = read_seen(desk, path)
    change_customer(customer.pk, city="Kiel")
    before = take_snapshot("invoices")
    said = "Nothing was imported. The customers changed after you looked at the preview."
    assert run(desk, path, seen) == said
    assert take_snapshot("invoices") == before
    assert "<del>Kiel</del> <ins>Bremen</ins>" in main_of(desk.get(path))
    assert confirm(desk, path) == "1 customer imported."


def test_of_an_import_that_is_sent_twice_the_second_says_what_became_of_the_file(desk):
    path = send(desk)["Location"]
    second = desk.post(path, {"import": "", "seen": read_seen(desk, path)})
    assert confirm(desk, path) == "1 customer imported."
    page = b"".join(second).decode()
    assert "This file does not wait any more: it was imported, given up or replaced" in page
    assert "Nothing was imported" not in page
    assert 'href="/customers">Show the customers</a>' in page


def read_seen(desk: Any, path: str) -> str:
    return str(desk.get(path).context["seen"])


def test_a_browser_that_goes_away_takes_everything_back(desk, monkeypatch):
    monkeypatch.setattr("invoicing.customer_imports.waiting.AT_ONCE", 1)
    path = send(desk, "Number,Name\n1,A\n2,B\n3,C\n")["Location"]
    seen = read_seen(desk, path)
    before = take_snapshot("invoices")
    answer = desk.post(path, {"import": "", "seen": seen})
    parts = iter(answer)
    head, _, step = next(parts), next(parts), next(parts)
    assert (b">Cancel</a>" in head, b"1 of 3" in step) == (True, True)
    assert Customer.objects.count() == 1
    answer._iterator.close()  # as answer.close(), but the test keeps its database
    assert take_snapshot("invoices") == before
    assert confirm(desk, path) == "3 customers imported."


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (OperationalError("locked"), "The database is busy."),
        (RuntimeError("bug"), "Something went"),
    ],
)
def test_an_import_that_fails_says_so_and_leaves_nothing(desk, monkeypatch, failure, said):
    def fail(*args: object, **kwargs: object) -> None:
        raise failure

    path = send(desk)["Location"]
    seen = read_seen(desk, path)
    monkeypatch.setattr("invoicing.administration.customer_imports.record_admin_act", fail)
    before = take_snapshot("invoices")
    assert run(desk, path, seen).startswith(f"Nothing was imported. {said}")
    assert take_snapshot("invoices") == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The submitted file is empty."),
        (b"Name\nA\0", reading.NO_TEXT),
        (b"Name\n" + b"A\n" * 11_000_000, reading.TOO_LARGE % {"megabytes": 20}),
        (b'Name\n"A', "Line 2 cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_not_kept(desk, content, said):
    refused = send(desk, content)
    assert refused.status_code == 422
    assert said in plain(refused)
    assert "<title>Please correct: Import customers" in refused.content.decode()
    assert not CustomerImport.objects.exists()


def test_a_file_is_its_persons_alone(desk, sign_in, colleague):
    path = send(desk)["Location"]
    other = sign_in(colleague)
    before = take_snapshot("invoices")
    for answer in (
        other.get(path),
        other.get(f"{path}/left-out"),
        other.post(path, {"give-up": ""}),
        other.post(path, {"import": "", "seen": read_seen(desk, path)}),
    ):
        assert answer.status_code == 404
    assert take_snapshot("invoices") == before


@pytest.mark.parametrize("missing", [Permission.VIEW_CUSTOMER, Permission.MANAGE_CUSTOMERS])
def test_without_the_permission_no_file_is_even_read(sign_in, company, monkeypatch, missing):
    held = {Permission.VIEW_CUSTOMER, Permission.MANAGE_CUSTOMERS, Permission.MANAGE} - {missing}
    person = make_staff(*held)
    desk = Browser(enforce_csrf_checks=True, HTTP_ORIGIN="https://invoices.example")
    desk.force_login(person)
    desk.get("/account")  # with it the token is asked for, for which the form is read
    monkeypatch.setattr(
        "invoicing.web.uploads.PageUploadHandler.receive_data_chunk", refuse_to_write
    )
    assert send(desk).status_code == 400
    desk = sign_in(person)
    assert desk.post("/customers/import").status_code == 403
    if missing == Permission.MANAGE_CUSTOMERS:
        assert "Import</a>" not in main_of(desk.get("/customers"))


def test_a_file_that_was_imported_at_that_moment_is_not_given_up(desk, monkeypatch):
    path = send(desk)["Location"]

    def find_just_before(*of: Any) -> CustomerImport:
        found = find_waiting(*of)
        CustomerImport.objects.all().delete()
        return found

    monkeypatch.setattr(customer_imports, "find_waiting", find_just_before)
    assert desk.post(path, {"give-up": ""}).status_code == 404


def test_a_file_goes_when_it_is_given_up_replaced_or_a_day_old(desk, sign_in, colleague):
    path = send(desk)["Location"]
    assert desk.post(path, {"give-up": ""})["Location"] == "/customers/import"
    assert not CustomerImport.objects.exists()
    send(desk)
    send(desk)
    assert CustomerImport.objects.count() == 1
    CustomerImport.objects.update(created_at=timezone.now() - timedelta(days=1))
    send(sign_in(colleague))
    assert [each.created_by for each in CustomerImport.objects.all()] == [colleague]


def test_the_list_of_customers_leads_to_the_import(desk):
    assert '<a class="button" href="/customers/import">Import</a>' in main_of(
        desk.get("/customers")
    )
    assert read_form(desk.get("/customers/import")) == {"file": ""}
