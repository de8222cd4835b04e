"""The delegated person at the review page, in a real browser."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from playwright.sync_api import expect

from agent_access.approvals.models import Decision
from agent_access.models import AuditEvent
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Customer
from invoicing.services.drafts import ConnectionRef, update_draft
from invoicing.totals import DiscountType
from tests.approvals import Prepared, prepare
from tests.browser.inspection import find_violations, follow, inspect
from tests.factories import (
    PASSWORD,
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    give_password,
    line_input,
    make_draft,
    make_issued,
)
from tests.web.reviews import decision_of, path_of

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


@pytest.fixture
def prepared(delegate, customer, tax_rate, connection) -> Prepared:
    lines = (line_input(tax_rate_id=tax_rate.id),)
    draft = make_draft(user=delegate, customer=customer, lines=lines, notes="Thank you.")
    maker = ConnectionRef(connection.id, "Ledger agent")
    return prepare(draft, user=delegate, connection=maker, now=timezone.now())


def test_a_person_signs_in_reads_and_approves(open_page, delegate, prepared):
    give_password(delegate)
    page = open_page(path_of(prepared))
    page.get_by_label("Work e-mail").fill(delegate.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()

    expect(page.get_by_role("heading", name="Issue this invoice?")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("€119.00")
    page.get_by_role("button", name="Approve issue").click()

    expect(page.get_by_role("heading", name="You approved this issue")).to_be_visible()
    assert decision_of(prepared) == Decision.APPROVED


def test_a_link_leads_past_a_long_invoice_to_the_decision(open_page, delegate, prepared):
    page = open_page(path_of(prepared), delegate)
    page.set_viewport_size({"width": 390, "height": 400})
    approve = page.get_by_role("button", name="Approve issue")
    expect(approve).not_to_be_in_viewport()
    page.get_by_role("link", name="To the decision").click()
    expect(approve).to_be_in_viewport()


def test_a_person_rejects_with_a_reason_by_keyboard_alone(open_page, delegate, prepared):
    page = open_page("/approvals", delegate)
    link = page.get_by_role("link", name="Acme Ltd")
    for _ in range(20):
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Issue this invoice?")).to_be_visible()
    page.get_by_label("Reason").focus()
    page.keyboard.type("Wrong customer.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Reject")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_role("main")).to_contain_text("Wrong customer.")
    assert decision_of(prepared) == Decision.REJECTED


def run_down(page: Any, path: str, *, told: str = "The ten minutes have passed.") -> None:
    """Open the page and let its ten minutes pass."""
    page.goto(path)
    timer = page.get_by_role("timer").first
    # However long a busy machine takes, the page sees five seconds.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 10)
    minutes, seconds = map(int, re.findall(r"\d+", timer.text_content()))
    seconds += minutes * 60 - 5
    page.clock.run_for(5000)
    expect(timer).to_have_text(f"{seconds // 60} min {seconds % 60} s")
    page.clock.run_for(timedelta(minutes=10) // timedelta(milliseconds=1))
    expect(page.get_by_role("main")).to_contain_text(told)


def test_the_time_left_counts_down_to_its_end(open_page, delegate, prepared):
    page = open_page("/people", delegate)
    page.clock.install()
    run_down(page, path_of(prepared))
    expect(page.get_by_role("button", name="Approve issue")).to_be_disabled()
    expect(page.get_by_role("button", name="Reject")).to_be_disabled()


def test_the_time_left_and_its_end_stand_beside_the_buttons(
    open_page, delegate, customer, connection
):
    draft = make_draft(user=delegate, customer=customer, lines=(line_input(),) * 30)
    maker = ConnectionRef(connection.id, "Ledger agent")
    prepared = prepare(draft, user=delegate, connection=maker, now=timezone.now())
    page = open_page("/people", delegate)
    page.clock.install()
    page.goto(path_of(prepared))
    beside = page.locator("form.decision")
    page.mouse.wheel(0, 1500)
    expect(page.get_by_role("heading", level=1)).not_to_be_in_viewport()
    expect(beside.get_by_role("timer")).to_be_in_viewport()
    page.clock.run_for(timedelta(minutes=10) // timedelta(milliseconds=1))
    with time_machine.travel(prepared.approval.expires_at):
        follow(beside.get_by_role("link", name="Reload the page"))
    expect(page.get_by_role("heading", name="This request has expired")).to_be_visible()


def test_the_inbox_and_the_draft_count_down_as_well(open_page, delegate, prepared):
    page = open_page("/people", delegate)
    page.clock.install()
    run_down(page, "/approvals", told="The ten minutes of a request in this list are over.")
    expect(page.get_by_role("listitem").get_by_text("Time is over", exact=True)).to_be_visible()
    run_down(page, f"/documents/{prepared.approval.target}")


def test_a_double_click_decides_once(open_page, delegate, prepared):
    page = open_page(path_of(prepared), delegate)
    page.get_by_role("button", name="Approve issue").dblclick()

    expect(page.get_by_role("heading", name="You approved this issue")).to_be_visible()
    assert AuditEvent.objects.filter(action="approval:approved").count() == 1


def test_after_going_back_the_decision_stands(open_page, delegate, prepared):
    page = open_page("/approvals", delegate)
    page.get_by_role("link", name="Acme Ltd").click()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="You rejected this issue")).to_be_visible()
    page.go_back()

    button = page.get_by_role("button", name="Approve issue")
    if page.url.endswith(path_of(prepared)) and button.count():
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing was decided just now.")
    assert decision_of(prepared) == Decision.REJECTED
    assert AuditEvent.objects.filter(action__startswith="approval:").count() == 1


def test_without_javascript_the_page_decides_as_well(open_page, delegate, prepared):
    page = open_page(path_of(prepared), delegate, java_script_enabled=False)
    expect(page.get_by_role("timer").first).to_contain_text(" min ")
    page.get_by_role("button", name="Approve issue").click()

    expect(page.get_by_role("heading", name="You approved this issue")).to_be_visible()


@pytest.fixture
def pictured(delegate, connection) -> Prepared:
    """An approval that is worth a picture: several lines, rates and a warning."""
    customer = CustomerFactory.create(name="Aurora Optics", city="Utrecht", postcode="3511 AB")
    standard = TaxRateFactory.create(name="VAT standard")
    reduced = TaxRateFactory.create(name="VAT reduced", percentage_ten_thousandths=70_000)
    lines = (
        line_input(
            description="Design of the spring catalogue",
            quantity=125_000,
            unit="h",
            unit_price=9500,
            tax_rate_id=standard.id,
        ),
        line_input(
            description="Printed copies, 120 pages,\nthread-sewn",
            quantity=400 * SCALE,
            unit_price=1240,
            discount_type=DiscountType.PERCENT,
            discount_value=1000,
            tax_rate_id=reduced.id,
        ),
        line_input(description="Delivery", quantity=SCALE, unit_price=4800),
    )
    today = timezone.localdate()
    draft: dict[str, Any] = {
        "customer": customer,
        "lines": lines,
        "issue_date": today,
        "due_date": today + timedelta(days=30),
        "reference": "PO 2026-118",
        "notes": "Thank you for your order.",
    }
    make_issued(issued_at=timezone.now() - timedelta(days=6), **draft)
    document = make_draft(user=delegate, **draft)
    maker = ConnectionRef(connection.id, "Ledger agent")
    return prepare(document, user=delegate, connection=maker, now=timezone.now())


@pytest.mark.prove
def test_every_state_reads_well(open_page, delegate, pictured):
    now = timezone.now()
    document = pictured.document
    states = {
        "expired": prepare(document, user=delegate, now=now - timedelta(minutes=11)),
        "rejected": prepare(document, user=delegate, now=now),
        "changed": prepare(document, user=delegate, now=now),
        "pending": pictured,
    }
    states["rejected"].decide(Decision.REJECTED, reason="Wrong order.\nPlease ask.", now=now)
    price = 9 * 10**12
    large = make_draft(
        user=delegate,
        customer=CustomerFactory.create(name="W" * 200),
        currency_code="BHD",
        language="de",
        lines=(line_input(quantity=9999 * SCALE, unit_price=price),),
    )
    states["large"] = prepare(large, user=delegate, now=now)
    page = open_page("/approvals", delegate)
    inspect(page, "inbox")
    Customer.objects.filter(name="Aurora Optics").update(name="Aurora Optics B.V.")
    page.goto(path_of(states["changed"]))
    inspect(page, "review-changed")
    Customer.objects.filter(name="Aurora Optics B.V.").update(name="Aurora Optics")
    for name in ("expired", "rejected", "pending", "large"):
        page.goto(path_of(states[name]))
        inspect(page, f"review-{name}")
    pictured.decide(now=timezone.now())
    page.goto(path_of(pictured))
    inspect(page, "review-approved")
    pictured.execute(now=timezone.now())
    page.reload()
    inspect(page, "review-executed")


def test_an_empty_inbox_reads_well(open_page, delegate):
    inspect(open_page("/approvals", delegate), "inbox-empty")


def test_the_inspection_sees_what_is_wrong(open_page, delegate):
    page = open_page("/approvals", delegate)
    page.evaluate("document.querySelector('h1').outerHTML = '<img src=x>'")
    assert "image-alt" in {rule for rule, _ in find_violations(page)}


def test_a_reason_that_is_too_long_has_the_focus_and_its_error_beside_it(
    open_page, delegate, prepared
):
    page = open_page(path_of(prepared), delegate)
    page.get_by_label("Reason").fill("x" * 501)
    page.get_by_role("button", name="Reject").click()
    expect(
        page.get_by_text("It can have at most 500 characters; this has 501.")
    ).to_be_in_viewport()
    expect(page.get_by_label("Reason")).to_be_focused()
    expect(page.get_by_label("Reason")).to_have_value("x" * 501)
    assert decision_of(prepared) == ""


def test_a_page_full_of_warnings_has_each_in_its_place(open_page, delegate, prepared):
    now, customer = timezone.now(), prepared.document.customer
    Company.objects.update(watched_amounts={"EUR": 10000}, street="", iban="")
    Customer.objects.update(is_watched=True)
    longest = {"description": "W" * 300, "unit_price": 5000, "quantity": SCALE}
    for price in (1000, 1100, 1200):
        issued = ({"description": "Consulting", "unit_price": price}, longest)
        lines = tuple(line_input(**each) for each in issued)
        make_issued(customer=customer, lines=lines, issued_at=now - timedelta(days=3))
    change = {"unit_price": 50000}
    asked = [line_input(description="Consulting"), line_input(**longest | change)]
    draft = make_draft(user=delegate, customer=customer, lines=tuple(asked))
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    rejected = prepare(draft, user=delegate, connection=maker, now=now)
    rejected.decide(Decision.REJECTED, now=now, reason="No: " + "w" * 300)
    changed = draft_input(customer, *asked, notes="W" * 300, due_date=now.date())
    update_draft(delegate, draft.pk, changed, lock_version=1)
    draft.refresh_from_db()
    *_, last = [prepare(draft, user=delegate, connection=maker, now=now) for _ in range(11)]

    page = open_page(path_of(last), delegate)
    for closed in page.locator("main summary").all():
        closed.click()
    expect(page.get_by_text("The bank details of your company are missing.")).to_be_visible()
    inspect(page, "warnings")
    # Texts flow with what is around them: a box of several lines has its bullet at the last one.
    displays = page.eval_on_selector_all(
        ".notice .points > li > :not(details) bdi",
        "all => all.map(each => getComputedStyle(each).display)",
    )
    assert len(displays) > 7
    assert set(displays) == {"inline"}
