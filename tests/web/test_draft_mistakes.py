"""Mistakes in the form of a draft: each beside its field, all at once, and nothing is saved."""

import re

import pytest

from invoicing.models import Document
from tests.web.forms import read_form, text_of

pytestmark = pytest.mark.sqlite  # a form is read and shown alike on both databases

DIGITS = "Write digits, and a dot before decimals: 1234.50, without spaces or other signs."
# The last is an Arabic-Indic digit.
UNREAD = ("1.23,45", "1.2345.6", "1 500", "1\xa0500", "1'500", "1\u2019500", "\u0661")

MISTAKES: tuple[tuple[dict[str, str], str], ...] = (
    ({"customer_id": ""}, "This field is required."),
    ({"customer_id": "01a00000-0000-7000-8000-000000000000"}, "Select a valid choice."),
    ({"due_date": "2026-03-01"}, "Must not be before the issue date."),
    ({"issue_date": "yesterday"}, "Enter a valid date."),
    ({"currency_code": "XAU"}, "Select a valid choice."),
    ({"notes": "x\x07"}, "Must not contain control characters."),
    ({"line-0-description": " "}, "Must not be empty."),
    ({"line-0-quantity": "0"}, "Must be positive"),
    ({"line-0-quantity": "1.00001"}, "Write at most 4 decimals."),
    ({"line-0-quantity": "-1"}, DIGITS),
    ({"line-0-quantity": "1.500"}, "This can be read in two ways. Write 1500 or 1.5."),
    ({"line-0-quantity": "999.999"}, "This can be read in two ways. Write 999999 or 999.9990."),
    ({"line-0-unit_price": "1234.500"}, "Write at most 2 decimals."),
    ({"line-0-unit_price": "1.500"}, "This can be read in two ways. Write 1500 or 1.5."),
    (
        {"line-0-unit_price": "1,234"},
        "This can be read in two ways. Write 1234 if you mean that. Write at most 2 decimals.",
    ),
    (
        {"line-0-unit_price": "1.500", "currency_code": "JPY"},
        "This can be read in two ways. Write 1500 if you mean that. Write no decimals here.",
    ),
    (
        {"line-0-unit_price": "1,500", "currency_code": "BHD"},
        "This can be read in two ways. Write 1500 or 1.5.",
    ),
    ({"line-0-discount_value": "1.500"}, "Write at most 2 decimals."),
    (
        {"line-0-discount_value": "1.500", "line-0-discount_type": "amount"},
        "This can be read in two ways. Write 1500 or 1.5.",
    ),
    *(({"line-0-unit_price": typed}, DIGITS) for typed in UNREAD),
    ({"line-0-unit_price": "9" * 30}, "Must be a whole number of at most 18 digits."),
    ({"line-0-unit_price": "9" * 16, "line-0-quantity": "900"}, "more than 18 digits"),
    ({"line-0-discount_value": "100.01"}, "Must be at most 100 %."),
    (
        {"line-0-discount_value": "15.76", "line-0-discount_type": "amount"},
        "Must not be larger than quantity times unit price.",
    ),
)


def test_a_mistake_is_named_beside_its_field_and_nothing_is_saved(writer_desk, filled, subtests):
    for changes, sentence in MISTAKES:
        with subtests.test(changes=repr(changes)[:60]):
            answer = writer_desk.post("/documents/new", filled | changes | {"save": ""})
            assert answer.status_code == 422
            assert sentence in text_of(answer)
            shown = read_form(answer)
            for name, typed in changes.items():
                if "choice" not in sentence:
                    assert shown[name] == typed
    assert not Document.objects.exists()


def test_all_mistakes_are_named_at_once(writer_desk, filled):
    changes = {"customer_id": "", "line-0-quantity": "x", "line-0-unit_price": "", "save": ""}
    answer = writer_desk.post("/documents/new", filled | changes)
    assert text_of(answer).count('class="errorlist"') == 3
    for label, field in (
        ("Customer", "customer_id"),
        ("Line 1: Quantity", "line-0-quantity"),
        ("Line 1: Unit price", "line-0-unit_price"),
    ):
        assert f'<a href="#id_{field}">{label}</a>' in text_of(answer)
        assert f'id="id_{field}"' in text_of(answer)


@pytest.mark.parametrize(
    "unread", [{"customer_id": ""}, {"currency_code": "XAU"}, {"line-0-unit_price": "1,234"}]
)
def test_what_only_the_service_finds_is_named_with_what_cannot_be_read(
    writer_desk, filled_twice, unread
):
    wrong = {"due_date": "2026-03-01", "line-1-description": " ", **unread}
    answer = writer_desk.post("/documents/new", {**filled_twice, **wrong, "save": ""})
    assert set(re.findall(r'<a href="#id_([^"]+)">', text_of(answer))) == set(wrong)
    lists = re.findall(r'<ul class="errorlist".*?</ul>', text_of(answer))
    assert [each.count("<li>") for each in lists] == [1, 1, 1]
    assert not Document.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"quantity": "0", "unit_price": "1,234"},
        {"description": " ", "unit": "x" * 21, "discount_value": "x"},
        {"quantity": "1,5,0", "discount_value": "101"},
        {"discount_value": "20", "discount_type": "amount", "tax_rate_id": "x"},
    ],
)
def test_all_mistakes_of_one_line_are_named_at_once(writer_desk, filled, wrong):
    line = {f"line-0-{name}": typed for name, typed in wrong.items()}
    answer = writer_desk.post("/documents/new", {**filled, **line, "save": ""})
    marked = re.findall(r'<a href="#id_line-0-([^"]+)">', text_of(answer))
    assert set(marked) == wrong.keys() - {"discount_type"}
    assert not Document.objects.exists()


@pytest.mark.parametrize(
    ("unread", "typed"),
    [
        ("quantity", {"quantity": "x", "discount_type": "amount"}),
        ("unit_price", {"unit_price": "1,234", "discount_type": "amount"}),
        ("discount_type", {"discount_type": "x"}),
    ],
)
def test_a_discount_is_not_judged_by_what_cannot_be_read(writer_desk, filled, unread, typed):
    line = {f"line-0-{name}": text for name, text in typed.items()}
    answer = writer_desk.post("/documents/new", {**filled, **line, "save": ""})
    assert re.findall(r'<a href="#id_line-0-([^"]+)">', text_of(answer)) == [unread]
