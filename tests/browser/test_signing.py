"""A person signs with a passkey in a real browser, whose authenticator is a virtual one."""

from base64 import b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.utils import timezone
from playwright.sync_api import Page, expect

from agent_access.approvals.models import Decision
from agent_access.passkeys.models import Signature, SigningRules
from invoicing.models import Document, User
from invoicing.services.drafts import ConnectionRef
from tests.agents import HOST
from tests.approvals import Prepared, prepare
from tests.browser import test_passkeys
from tests.browser.inspection import inspect
from tests.factories import line_input, make_draft
from tests.passkeys import SoftPasskey
from tests.signing import demand
from tests.web.reviews import decision_of, path_of

# A page looks and acts the same on both databases; tests/agent_access/approvals asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


@pytest.fixture
def prepared(delegate, customer, tax_rate, connection) -> Prepared:
    lines = (line_input(tax_rate_id=tax_rate.id),)
    draft = make_draft(user=delegate, customer=customer, lines=lines, notes="Thank you.")
    maker = ConnectionRef(connection.id, "Ledger agent")
    return prepare(draft, user=delegate, connection=maker, now=timezone.now())


def plug_in(page: Page, soft: SoftPasskey) -> None:
    """Give the page's browser a device that holds the passkey."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    added = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": test_passkeys.DEVICE})
    key = soft.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    credential = {
        "credentialId": b64encode(soft.credential_id).decode(),
        "isResidentCredential": True,
        "rpId": HOST,
        "privateKey": b64encode(key).decode(),
        "userHandle": b64encode(b"somebody").decode(),
        "signCount": 0,
    }
    devtools.send("WebAuthn.addCredential", {**added, "credential": credential})


@pytest.fixture
def open_signing(open_page):
    """Open a page as a person whose passkey, which they added a day ago, this browser has."""

    def open_as(path: str, person: User, **columns: Any) -> Page:
        soft = SoftPasskey()
        soft.keep_for(person, **columns)
        page: Page = open_page("/account", person)
        plug_in(page, soft)
        page.goto(f"https://{HOST}{path}")
        return page

    return open_as


def test_approving_asks_for_the_passkey_and_rejecting_does_not(open_signing, delegate, prepared):
    demand(always=True)
    page = open_signing(path_of(prepared), delegate)
    expect(page.get_by_role("heading", name="This is signed with your passkey")).to_be_visible()
    page.get_by_text("Do it on your phone").click()
    inspect(page, "signing-review")
    page.get_by_role("button", name="Approve issue").click()

    expect(page.get_by_role("heading", name="You approved this issue")).to_be_visible()
    assert decision_of(prepared) == Decision.APPROVED
    assert Signature.objects.get().record_id == prepared.approval.pk


def test_without_the_passkey_nothing_is_approved_and_the_page_says_why(
    open_signing, delegate, prepared
):
    demand(always=True)
    page = open_signing(path_of(prepared), delegate)
    page.evaluate(
        "void (navigator.credentials.get = async () => {"
        " throw new DOMException('', 'NotAllowedError'); })"
    )
    button = page.get_by_role("button", name="Approve issue")
    button.click()
    expect(page.get_by_text("No passkey was used:")).to_be_visible()
    expect(button).to_be_enabled()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="You rejected this issue")).to_be_visible()
    assert not Signature.objects.exists()


def test_issuing_by_hand_asks_for_the_passkey(open_signing, delegate, prepared):
    demand(limits={"USD": "1.00"})
    page = open_signing(f"/documents/{prepared.document.pk}/issue", delegate)
    inspect(page, "signing-by-hand")
    page.get_by_role("button", name="Issue now").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("2026")
    signature = Signature.objects.get()
    assert (signature.purpose, signature.record_id) == ("do", prepared.document.pk)
    assert Document.objects.get(pk=prepared.document.pk).is_issued


def test_a_page_on_the_wrong_device_leads_to_the_right_one(open_signing, delegate, prepared):
    demand(always=True, apart=True)
    page = open_signing(path_of(prepared), delegate, is_apart=True)
    expect(page.get_by_text("Open this page there, and sign in there")).to_be_visible()
    expect(page.get_by_role("button", name="Approve issue")).to_have_count(0)
    expect(page.get_by_role("button", name="Reject")).to_be_visible()
    inspect(page, "signing-apart")


def test_the_owner_demands_signatures_and_lowers_that_with_a_passkey(open_signing, owner):
    page = open_signing("/admin/agent_passkeys/signingrules/", owner)
    page.get_by_label("Everything that people approve").check()
    inspect(page, "signing-rules")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This is what has to be signed from now on.")).to_be_visible()
    assert SigningRules.read().always

    page.get_by_label("Everything that people approve").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Nothing was changed yet.")).to_be_visible()
    assert SigningRules.read().always
    page.get_by_role("button", name="Confirm with your passkey").click()
    expect(page.get_by_text("This is what has to be signed from now on.")).to_be_visible()
    assert not SigningRules.read().always


def test_a_sensitive_act_is_confirmed_with_the_passkey_by_its_own_form(open_signing, owner):
    page = open_signing("/admin/invoices/company/evidence", owner)
    with page.expect_download() as told:
        page.get_by_role("button", name="Download the evidence").click()
    assert told.value.suggested_filename.endswith(".zip")
