"""A person signs with a passkey in a real browser, whose authenticator is a virtual one."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from agent_access.approvals.models import Decision
from agent_access.audit import OPERATOR
from agent_access.passkeys.models import Passkey, Signature, SigningRules
from invoicing.models import Document
from invoicing.services.drafts import ConnectionRef
from tests.approvals import Prepared, prepare
from tests.browser import test_passkeys
from tests.browser.inspection import inspect
from tests.browser.test_passkeys import address_of, give_link, make_link, use_link
from tests.factories import PASSWORD, give_password, line_input, make_draft
from tests.signing import change_past_triggers, demand
from tests.web.reviews import decision_of, path_of

plug = test_passkeys.plug

# A page looks and acts the same on both databases; tests/agent_access/approvals asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


@pytest.fixture
def prepared(delegate, customer, tax_rate, connection) -> Prepared:
    lines = (line_input(tax_rate_id=tax_rate.id),)
    draft = make_draft(user=delegate, customer=customer, lines=lines, notes="Thank you.")
    maker = ConnectionRef(connection.id, "Ledger agent")
    return prepare(draft, user=delegate, connection=maker, now=timezone.now())


@pytest.fixture
def page(open_page, plug, owner, delegate):
    """The browser of the delegated person, who made a passkey in it a day ago."""
    give_password(delegate)
    page = open_page("/sign-in")
    plug(page)
    use_link(page, give_link(owner, delegate), name="Laptop")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    wait_for_passkey(delegate)
    return page


def wait_for_passkey(person) -> None:
    """Let the passkey be a day old, past the trigger that keeps when it was added."""
    assert Passkey.objects.filter(person=person).exists()
    old = timezone.now() - timedelta(days=1)
    change_past_triggers("agent_passkeys_passkey", "added_at", old)


def sign_in(page, delegate, path: str) -> None:
    page.goto(f"https://invoices.example{path}")
    if page.get_by_label("Work e-mail").count():
        page.get_by_label("Work e-mail").fill(delegate.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()


def test_approving_asks_for_the_passkey_and_rejecting_does_not(page, delegate, prepared):
    demand(always=True)
    sign_in(page, delegate, path_of(prepared))
    expect(page.get_by_role("heading", name="This is signed with your passkey")).to_be_visible()
    page.get_by_text("Do it on your phone").click()
    inspect(page, "signing-review")
    page.get_by_role("button", name="Approve issue").click()

    expect(page.get_by_role("heading", name="You approved this issue")).to_be_visible()
    assert decision_of(prepared) == Decision.APPROVED
    assert Signature.objects.get().record_id == prepared.approval.pk


def test_without_the_passkey_nothing_is_approved_and_the_page_says_why(
    page, delegate, prepared, open_page
):
    demand(always=True)
    sign_in(page, delegate, path_of(prepared))
    page.context.new_cdp_session(page)
    page.evaluate(
        "navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError'); }"
    )
    button = page.get_by_role("button", name="Approve issue")
    button.click()
    expect(page.get_by_text("No passkey was used:")).to_be_visible()
    expect(button).to_be_enabled()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="You rejected this issue")).to_be_visible()
    assert not Signature.objects.exists()


def test_issuing_by_hand_asks_for_the_passkey(page, delegate, prepared):
    demand(limits={"USD": "1.00"})
    sign_in(page, delegate, f"/documents/{prepared.document.pk}/issue")
    inspect(page, "signing-by-hand")
    page.get_by_role("button", name="Issue now").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("2026")
    signature = Signature.objects.get()
    assert (signature.purpose, signature.record_id) == ("do", prepared.document.pk)
    assert Document.objects.get(pk=prepared.document.pk).is_issued


def test_a_page_on_the_wrong_device_leads_to_the_right_one(page, delegate, prepared):
    demand(always=True, apart=True)
    sign_in(page, delegate, path_of(prepared))
    expect(page.get_by_text("This needs a passkey on a device")).to_be_visible()
    expect(page.get_by_role("button", name="Approve issue")).to_have_count(0)
    expect(page.get_by_role("button", name="Reject")).to_be_visible()
    inspect(page, "signing-apart")


def test_the_owner_demands_signatures_and_lowers_that_with_a_passkey(open_page, plug, owner):
    give_password(owner)
    page = open_page("/sign-in")
    plug(page)
    use_link(page, address_of(make_link(OPERATOR, owner, maker=None)), name="Laptop")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    wait_for_passkey(owner)
    sign_in(page, owner, "/admin/agent_passkeys/signingrules/")
    page.get_by_label("Everything that people approve").check()
    inspect(page, "signing-rules")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This is what has to be signed from now on.")).to_be_visible()
    assert SigningRules.read().always

    page.get_by_label("Everything that people approve").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Nothing was changed yet.")).to_be_visible()
    assert SigningRules.read().always
    page.get_by_role("button", name="Confirm with a passkey").click()
    expect(page.get_by_text("This is what has to be signed from now on.")).to_be_visible()
    assert not SigningRules.read().always
