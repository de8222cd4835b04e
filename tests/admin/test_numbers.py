"""The page on which the owner says how documents are numbered."""

from datetime import date
from typing import Any

import pytest
from django.test import Client

from invoicing.admin import numbering
from invoicing.admin.records import CHANGED_MEANWHILE
from invoicing.models import DocumentType, NumberFormat, NumberSeries
from invoicing.services.numbering import (
    GIVEN_ALREADY,
    SAME_NUMBERS,
    TOO_LONG,
    UNREADABLE_PREFIX,
)
from tests.admin.forms import snapshot_of_books
from tests.administration import acts_written, make_administrator
from tests.factories import make_issued
from tests.web.forms import main_of

URL = "/admin/invoices/numberseries/"

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


@pytest.fixture(autouse=True)
def in_2026(monkeypatch: pytest.MonkeyPatch, company: object) -> None:
    """The year of the documents that factories make."""
    monkeypatch.setattr(numbering, "local_date", lambda *_: date(2026, 3, 2))


def form_at(desk: Client) -> dict[str, Any]:
    """Return the fields as a browser sends them: of a box that is not ticked, nothing."""
    form = desk.get(URL).context["form"]
    values = {bound.html_name: bound.value() for bound in form if not bound.field.disabled}
    return {name: value for name, value in values.items() if value is not False}


def send(desk: Client, form: dict[str, Any], **fields: Any) -> Any:
    """Send the form with other values; None leaves a field out, as a box without a tick."""
    sent = {name: value for name, value in (form | fields).items() if value is not None}
    return desk.post(URL, sent)


def save(desk: Client, **fields: Any) -> None:
    answer = send(desk, form_at(desk), **fields)
    assert answer.status_code == 302, answer.context["form"].errors


def refused(desk: Client, form: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return what the page says, having seen that nothing changed."""
    before, acts = snapshot_of_books(), acts_written()
    answer = send(desk, form or form_at(desk), **fields)
    assert answer.status_code == 200
    assert (snapshot_of_books(), acts_written()) == (before, acts)
    return dict(answer.context["form"].errors)


def test_numbers_go_on_from_former_software_and_are_fixed_from_the_first_on(desk):
    save(desk, invoice_prefix="RE/", invoice_digits="3", invoice_next_value="501")
    kept = NumberFormat.objects.get(type="invoice")
    assert acts_written() == [
        ("number_format:changed", str(kept.pk), "prefix, digits, next_value"),
    ]
    assert "The next number of 2026 is <strong>RE/2026-501</strong>." in main_of(desk.get(URL))
    save(desk, invoice_next_value="7")
    save(desk, invoice_next_value="499")
    assert [make_issued().number for _ in range(2)] == ["RE/2026-499", "RE/2026-500"]
    page = main_of(desk.get(URL))
    assert "The next number of 2026 is <strong>RE/2026-501</strong>." in page
    assert "the next value is fixed: numbers have no gaps." in page
    save(desk, invoice_next_value="9", invoice_prefix="R")
    assert make_issued().number == "R2026-501"
    next_year = date(2027, 1, 1)
    assert make_issued(issue_date=next_year, due_date=next_year).number == "R2027-001"


def test_numbers_without_a_year_are_one_series_for_ever(desk):
    save(desk, invoice_has_year=None, invoice_next_value="12")
    dates = [date(2026, 3, 2), date(2027, 1, 1), date(2026, 12, 31)]
    numbers = [make_issued(issue_date=each, due_date=each).number for each in dates]
    assert numbers == ["INV-0012", "INV-0013", "INV-0014"]
    assert [*NumberSeries.objects.values_list("type", "year", "last_value")] == [("invoice", 0, 14)]
    save(desk, invoice_has_year="on")
    assert make_issued().number == "INV-2026-0001"
    save(desk, invoice_has_year=None)
    assert make_issued().number == "INV-0015"


@pytest.mark.parametrize("prefix", ["inv-", "RE 26", "R\N{ZERO WIDTH SPACE}E", "=1", "-R", "RÉ"])
def test_a_prefix_of_other_characters_is_refused(desk, prefix):
    assert refused(desk, invoice_prefix=prefix) == {"invoice_prefix": [UNREADABLE_PREFIX]}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"invoice_prefix": "INVOICE/26-"}, {"invoice_prefix": [TOO_LONG]}),
        ({"invoice_digits": "11"}, {"invoice_digits": [...]}),
        ({"invoice_next_value": "0"}, {"invoice_next_value": [...]}),
        (
            {
                "invoice_prefix": "ABCDEF/26-",
                "invoice_digits": "1",
                "invoice_next_value": "1234567",
            },
            {"invoice_prefix": [TOO_LONG]},
        ),
        ({"invoice_prefix": "CN-"}, {"__all__": [SAME_NUMBERS]}),
        ({"invoice_prefix": "CN-2031-", "invoice_has_year": None}, {"__all__": [SAME_NUMBERS]}),
    ],
)
def test_formats_that_do_not_fit_or_could_write_the_same_are_refused(desk, fields, told):
    found = refused(desk, **fields)
    assert found.keys() == told.keys()
    assert all(told[name] == [...] or found[name] == told[name] for name in told)


def test_two_types_change_their_prefixes_for_each_other_at_once(desk):
    save(desk, invoice_prefix="CN-", credit_note_prefix="INV-")
    assert make_issued().number == "CN-2026-0001"
    assert make_issued(document_type=DocumentType.CREDIT_NOTE).number == "INV-2026-0001"


def test_no_format_and_no_start_gives_an_issued_number_again(desk):
    for _ in range(2):
        make_issued()
    again = {"__all__": [GIVEN_ALREADY % {"number": "INV-2026-0002"}]}
    forever: dict[str, Any] = {"invoice_prefix": "INV-2026-", "invoice_has_year": None}
    assert refused(desk, **forever) == again
    save(desk, invoice_prefix="R-")
    former: dict[str, Any] = {"credit_note_prefix": "INV-", "credit_note_next_value": "2"}
    assert refused(desk, **former) == again
    save(desk, **former | {"credit_note_next_value": "3"})
    assert refused(desk, credit_note_next_value="1") == again
    assert make_issued(document_type=DocumentType.CREDIT_NOTE).number == "INV-2026-0003"
    assert make_issued().number == "R-2026-0003"


@pytest.mark.parametrize("meanwhile", ["issued", "changed"])
def test_what_was_shown_before_a_document_or_a_change_is_not_saved(desk, meanwhile):
    form = form_at(desk)
    if meanwhile == "issued":
        make_issued()
    else:
        save(desk, invoice_next_value="5")
    told = refused(desk, form, invoice_next_value="500")
    assert told["__all__"] == [CHANGED_MEANWHILE]


def test_an_administrator_changes_numbers_with_the_permission_only(sign_in):
    viewer = sign_in(make_administrator("view_numberseries"))
    page = main_of(viewer.get(URL))
    assert "The next number of 2026 is <strong>INV-2026-0001</strong>." in page
    assert "_save" not in page
    before = snapshot_of_books()
    form = {"invoice_prefix": "R-", "invoice_digits": "4", "invoice_next_value": "1"}
    assert viewer.post(URL, form).status_code == 403
    assert snapshot_of_books() == before
    save(sign_in(make_administrator("change_numberseries")), invoice_prefix="R-")
    assert make_issued().number == "R-2026-0001"
