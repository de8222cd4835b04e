"""Pages between a phone and a desk, magnified, and in colours of one's own, in a real browser."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from agent_access.connections import revoke_connection
from agent_access.models.connections import RevokedReason
from invoicing.fixed_point import SCALE
from invoicing.services.drafts import update_draft
from invoicing.totals import DiscountType
from tests.approvals import prepare
from tests.browser.inspection import SPILT, fits
from tests.factories import (
    CustomerFactory,
    TeamFactory,
    UserFactory,
    draft_input,
    line_input,
    make_draft,
)

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite, pytest.mark.prove]

# A desk, magnified four times, on phones and tablets, and magnified by a half and by a quarter.
WIDTHS = (320, 360, 700, 768, 853, 970, 1024, 1280)
# What the margins leave of A4.
PAPER = 657
IPV6 = "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"
TWO_LINES = 40
# The texts, among those that the selector finds, that stand on more lines than one.
BROKEN = """selector => [...document.querySelectorAll(selector)].filter(each => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return new Set([...range.getClientRects()].map(box => box.top)).size > 1;
}).map(each => each.innerText)"""
# The words, in what the selector finds, that begin on one line and end on another.
CUT = r"""selector => [...document.querySelectorAll(selector)].flatMap(each => {
    const cut = [], texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[^\s-]+/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) cut.push(word[0]);
    }
    return cut;
})"""
WORDS_OF_INBOX = ".entries :is(thead th, td:nth-child(2) > span, .tag, .number)"
# The fields of a form that are narrower than what they show, or than three letters.
NARROW = """() => [...document.querySelectorAll('.card :is(input, select)')].filter(field => {
    if (field.type === 'hidden') return false;
    const width = field.clientWidth;
    field.style.width = field.type === 'date' ? 'max-content' : '3rem';
    const isNarrow = width < field.clientWidth;
    field.style.width = '';
    return isNarrow;
}).map(field => field.name)"""


def look(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert fits(page), (page.url, width)
    assert page.evaluate(SPILT) == [], (page.url, width)


@pytest.mark.parametrize("room", ["connection", "receipt", "auditevent"])
def test_the_owners_lists_fit_every_width(open_page, owner, delegate, agent, draft_body, room):
    delegate.name = "Maximiliane-Katharina von Hohenstaufen-Lichtenberg"
    delegate.save()
    agent.call("drafts.create", draft_body, key="k" * 80)
    agent.request("GET", "/api/v1/tools", REMOTE_ADDR=IPV6)
    page = open_page(f"/admin/agent_access/{room}/", owner)
    for width in WIDTHS:
        look(page, width)


def test_no_word_of_how_a_connection_ended_is_cut_in_two_at_any_width(
    open_page, owner, delegate, connect
):
    for reason in RevokedReason:
        connection, _ = connect(delegate)
        revoke_connection(connection.pk, reason=reason)
    page = open_page("/admin/agent_access/connection/", owner)
    for width in WIDTHS:
        look(page, width)
        assert page.evaluate(CUT, ".rows .field-state") == [], width


def test_the_fields_of_a_draft_show_what_they_hold_at_every_width(open_page, delegate, customer):
    draft = make_draft(customer=customer, lines=(line_input(unit="pieces"),))
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    unit = page.get_by_label("Unit (optional)", exact=True)
    for width in WIDTHS:
        look(page, width)
        assert page.evaluate(NARROW) == [], width
        assert unit.evaluate("field => field.scrollWidth <= field.clientWidth"), width


def test_the_name_of_a_document_is_on_one_line_at_every_width(open_page, delegate):
    customer = CustomerFactory.create(name="Nordwind Maschinenbau und Vertriebs GmbH & Co. KG")
    line = line_input(unit_price=123_456_789)
    draft = make_draft(customer=customer, currency_code="KWD", lines=(line,))
    page = open_page("/documents", delegate)
    for width in WIDTHS:
        look(page, width)
        name = page.get_by_role("link", name=draft.draft_code)
        assert name.evaluate("link => link.offsetHeight") < TWO_LINES, width


def test_the_longest_name_leaves_the_head_of_no_page(open_page, delegate):
    delegate.name = "W" * 200
    delegate.save()
    page = open_page("/documents", delegate)
    for width in WIDTHS:
        look(page, width)


def test_no_word_of_the_inbox_is_cut_in_two_at_any_width(open_page, delegate, customer):
    now = timezone.now()
    changed, issued = [
        prepare(make_draft(customer=customer), user=delegate, now=now) for _ in range(2)
    ]
    issued.decide(now=now)
    issued.execute(now=now)
    update_draft(delegate, changed.approval.target, draft_input(customer), lock_version=1)
    page = open_page("/approvals", delegate)
    states = page.locator("tbody .tag").all_inner_texts()
    assert sorted(states) == ["Draft changed", "Issued"]
    for width in WIDTHS:
        look(page, width)
        assert page.evaluate(BROKEN, WORDS_OF_INBOX) == [], width


def test_no_word_of_a_person_is_cut_in_two_but_at_the_narrowest(open_page, delegate):
    person = UserFactory.create(
        name="Raghunathan", job_title="Draughtsman", email="quentin@halden.example"
    )
    TeamFactory.create(name="Workshop", members=[person])
    page = open_page("/people?search=Raghunathan", delegate)
    for width in WIDTHS[1:]:  # at the narrowest two columns have no room for such words
        look(page, width)
        assert page.evaluate(CUT, ".people :is(a, tbody td)") == [], width


@pytest.mark.parametrize(
    ("language", "unit_price", "unit"),
    [("es", 10_000, "kilowatt hour"), ("de", 1_000_000, "Kilowattstunden"), ("en", 100, "時" * 20)],
)
def test_no_amount_leaves_its_card_where_other_lines_are_long(
    open_page, delegate, customer, language, unit_price, unit
):
    discount = {"discount_type": DiscountType.PERCENT, "discount_value": 1250}
    # No line is long by itself; their columns are.
    large = line_input(quantity=1234 * SCALE, unit_price=unit_price, **discount)
    lines = (large, line_input(unit=unit))
    draft = make_draft(customer=customer, lines=lines, language=language)
    page = open_page(f"/documents/{draft.id}", delegate)
    for width in WIDTHS:
        look(page, width)
    page.emulate_media(media="print")
    look(page, PAPER)


def test_the_figures_of_a_line_stand_in_a_row_on_paper(open_page, delegate, customer):
    line = line_input(unit="Stunden", unit_price=12_500)
    draft = make_draft(customer=customer, lines=(line,), language="de")
    page = open_page(f"/documents/{draft.id}", delegate)
    page.emulate_media(media="print")
    look(page, PAPER)
    assert page.get_by_role("columnheader", name="Einzelpreis").is_visible()


def test_in_colours_of_ones_own_one_room_alone_is_underlined(open_page, delegate):
    page = open_page("/documents", delegate)
    page.emulate_media(forced_colors="active")
    ground, lines = page.evaluate("""() => [
        getComputedStyle(document.querySelector('.top')).backgroundColor,
        [...document.querySelectorAll('.top nav a')].map(
            link => [link.innerText, getComputedStyle(link).borderBottomColor]),
    ]""")
    assert [name for name, line in lines if line != ground] == ["Invoices"]
