"""Every page of the tour: accessible, in its place at each width, still, and light to load."""

import os
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from agent_access.models import AuditEvent
from tests.approvals import prepare
from tests.browser.inspection import SPILT, find_violations, fits
from tests.browser.tour import OF_NOBODY, OF_PEOPLE, OF_THE_OWNER, Sights
from tests.factories import make_connection_ref, make_draft, make_issued

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite, pytest.mark.prove]

DESK, TABLET, PHONE = PICTURED = (1440, 768, 390)
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LOOKS: tuple[tuple[int, Scheme], ...] = ((DESK, "light"), (PHONE, "dark"))
MOST_BYTES = 60_000
# Less than a thousandth of the page: nobody sees it.
STILL = 0.001
STEPS = {**OF_PEOPLE, **OF_THE_OWNER, **OF_NOBODY}
# How far a page jumps while it is loaded, as browsers report it: no unit, 0 is still.
WATCH_SHIFTS = """() => { window.shifts = 0;
    new PerformanceObserver(list => list.getEntries().forEach(each => {
        window.shifts += each.value;
    })).observe({type: 'layout-shift', buffered: true}); }"""
# Our own scripts and style, compressed, as they came over the network.
OWN_BYTES = """() => performance.getEntriesByType('resource')
    .filter(each => /static.(invoicing|agent_).*[.](css|js)$/.test(new URL(each.name).pathname))
    .reduce((sum, each) => sum + each.encodedBodySize, 0)"""


@pytest.fixture
def sights(owner, delegate, customer, connect) -> Sights:
    connection, agent = connect(delegate, name="Ledger agent")
    agent.call("customers.search")
    by_agent = make_connection_ref("Ledger agent")
    waiting = make_draft(user=delegate, customer=customer, connection=by_agent)
    prepared = prepare(waiting, user=delegate, now=timezone.now())
    return Sights(
        owner=owner,
        delegate=delegate,
        customer=customer,
        draft=make_draft(user=delegate, customer=customer, language="de"),
        waiting=waiting,
        issued=make_issued(user=delegate, customer=customer, reference="PO 4711"),
        approval_id=str(prepared.approval.pk),
        connection_id=str(connection.pk),
        event_id=str(AuditEvent.objects.latest("pk").pk),
    )


@pytest.mark.parametrize("name", STEPS)
def test_a_page_is_accessible_still_light_and_in_its_place(open_page, sights, name):
    of_owner = sights.owner if name in OF_THE_OWNER else None
    page = open_page("about:blank", sights.delegate if name in OF_PEOPLE else of_owner)
    page.add_init_script(f"({WATCH_SHIFTS})()")
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        answer = page.goto(STEPS[name](sights))
        assert answer is not None
        assert answer.status == (404 if name == "not-found" else 200)
        page.wait_for_load_state()
        assert fits(page), width
        assert page.evaluate(SPILT) == [], width
        assert page.evaluate("window.shifts") < STILL, width
        assert page.evaluate(OWN_BYTES) <= MOST_BYTES
        assert find_violations(page) == [], width
    page.set_viewport_size({"width": TABLET, "height": 900})
    assert fits(page)
    assert page.evaluate(SPILT) == []
    _take_pictures(page, name)


def _take_pictures(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOT_FOLDER"):
        for width, scheme in product(PICTURED, SCHEMES):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=Path(folder, f"{name}-{width}-{scheme}.png"), full_page=True)
