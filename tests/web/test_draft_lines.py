"""Lines of a draft are copied, moved and left blank by the buttons of the form, without scripts."""

import pytest

from invoicing.models import Document
from tests.web.forms import read_form

pytestmark = pytest.mark.sqlite  # a form is read and shown alike on both databases

NEW = "/documents/new"


@pytest.fixture
def three(filled):
    """A form with the lines A, B and C."""
    line = {name.removeprefix("line-0-"): text for name, text in filled.items() if "-0-" in name}
    lines = {
        f"line-{index}-{name}": text
        for index, letter in enumerate("ABC")
        for name, text in (line | {"description": letter}).items()
    }
    return filled | lines | {"line-TOTAL_FORMS": "3"}


def texts(form) -> str:
    count = int(form["line-TOTAL_FORMS"])
    return "".join(form[f"line-{index}-description"] for index in range(count))


@pytest.mark.parametrize(
    ("pressed", "shown"),
    [
        ({"copy_line": "1"}, "ABBC"),
        ({"copy_line": "99"}, "ABCC"),
        ({"raise_line": "1"}, "BAC"),
        ({"raise_line": "0"}, "ABC"),
        ({"lower_line": "1"}, "ACB"),
        ({"lower_line": "2"}, "ABC"),
        ({"lower_line": "99"}, "ABC"),
        ({"remove_line": "1"}, "AC"),
    ],
    ids=str,
)
def test_a_button_changes_the_order_and_loses_nothing(writer_desk, three, pressed, shown):
    form = read_form(writer_desk.post(NEW, {**three, "line-1-unit_price": "x", **pressed}))
    assert texts(form) == shown
    prices = [form[f"line-{index}-unit_price"] for index in range(len(shown))]
    assert {price == "x" for price, text in zip(prices, shown, strict=True) if text == "B"} <= {
        True
    }
    assert not Document.objects.exists()


def test_no_copy_is_made_beyond_a_hundred_lines(writer_desk, filled):
    form = read_form(writer_desk.post(NEW, {**filled, "line-TOTAL_FORMS": "100", "copy_line": "0"}))
    assert form["line-TOTAL_FORMS"] == "100"


def test_lines_that_stayed_blank_are_not_saved(writer_desk, three, tax_rate):
    blank = dict.fromkeys(("description", "quantity", "unit", "unit_price", "discount_value"), "")
    middle = {f"line-1-{name}": text for name, text in blank.items()}
    writer_desk.post(NEW, {**three, **middle, "save": ""})
    lines = Document.objects.get().lines.order_by("position")
    assert [line.description for line in lines] == ["A", "C"]


def test_a_line_with_anything_typed_is_not_blank(writer_desk, three):
    part = {f"line-2-{name}": "" for name in ("description", "quantity", "unit", "unit_price")}
    answer = writer_desk.post(NEW, {**three, **part, "save": ""})
    assert (answer.status_code, Document.objects.exists()) == (422, False)
