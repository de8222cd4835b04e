"""What agents and customers wrote paints within its own box, in a real browser."""

from io import BytesIO
from itertools import product
from typing import Any

import pytest
from django.utils import timezone
from PIL import Image, ImageChops
from playwright.sync_api import Page

from invoicing.models import Customer, User
from tests.approvals import prepare
from tests.browser.inspection import WIDTHS, fits
from tests.factories import line_input, make_connection_ref, make_draft
from tests.web.reviews import path_of

# A page looks the same on both databases.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

# As many marks as a letter may have, above and below; more, a tall sign, and one without end.
PILED = " ".join(("Ǻ" + 4 * "\u030b" + "p" + 4 * "\u0331",) * 2)
HOSTILE = " ".join((PILED, "x" + 40 * "\u030b", "\ufdfd", 200 * "क\u094d"))
# A browser smooths edges a little differently each time; of 255.
FAINT = 64
# The boxes on the page, as left, top, right and bottom, of what somebody wrote, which is hidden if
# asked for; the time left, which runs, always is. A text of several lines may reach beyond its box
# by a quarter of a letter.
BOXES = r"""hides => {
    for (const timer of document.querySelectorAll('[role=timer]'))
        timer.style.visibility = 'hidden';
    for (const bar of document.querySelectorAll('.bar'))
        bar.style.position = 'static';  // a picture of the whole page has no edge to stick to
    const typed = [...document.querySelectorAll('bdi')];
    return typed.filter(each => each.textContent.includes('\u030b')).map(each => {
        each.style.visibility = hides ? 'hidden' : '';
        const text = each.closest('.text'), room = text ? 5 : 1;
        const box = (text ?? each).getBoundingClientRect();
        const [left, top] = [box.left + scrollX - room, box.top + scrollY - room];
        return [left, top, left + box.width + 2 * room, top + box.height + 2 * room];
    });
}"""


def draw(page: Page, *, hides: bool) -> tuple[Image.Image, list[list[float]]]:
    boxes = page.evaluate(BOXES, hides)
    return Image.open(BytesIO(page.screenshot(full_page=True))).convert("L"), boxes


def test_no_pile_of_marks_and_no_endless_sign_paints_outside_its_box(
    open_page: Any, delegate: User, customer: Customer
) -> None:
    customer.name, customer.street = HOSTILE[:200], PILED
    customer.save()
    connection = make_connection_ref(HOSTILE[:100])
    lines = (line_input(), line_input(description=f"{HOSTILE}\n{HOSTILE}"), line_input())
    draft = make_draft(user=delegate, customer=customer, lines=lines, connection=connection)
    prepared = prepare(draft, user=delegate, connection=connection, now=timezone.now())
    page = open_page("/people", delegate)
    for path, width in product(["/documents", "/approvals", path_of(prepared)], WIDTHS.values()):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path)
        shown, boxes = draw(page, hides=False)
        hidden, _ = draw(page, hides=True)
        assert len(boxes) >= 2, path
        assert fits(page), (path, width)
        painted = ImageChops.difference(shown, hidden).point(lambda value: max(0, value - FAINT))
        assert painted.getbbox(), path
        for left, top, right, bottom in boxes:
            painted.paste(0, (round(left), round(top), round(right), round(bottom)))
        assert painted.getbbox() is None, (path, width)
