"""Signing in with a passkey in a real browser, whose authenticator is a virtual one."""

from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.utils import timezone
from playwright.sync_api import Page, expect

from agent_access.models.settings import AccessSettings
from agent_access.passkeys.models import Passkey
from invoicing.models import Company, User
from invoicing.passkey_rule import today
from tests.agents import HOST
from tests.browser.inspection import inspect
from tests.browser.test_passkeys import DEVICE
from tests.factories import PASSWORD, give_password
from tests.passkeys import SoftPasskey

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

GiveDevice = Callable[..., None]


@pytest.fixture
def give_device() -> GiveDevice:
    """Return a function that gives a page's browser a device with this passkey of the person."""

    def give(page: Page, person: User, **options: object) -> None:
        soft = SoftPasskey(counter=1)
        soft.keep_for(person, name="Laptop")
        devtools = page.context.new_cdp_session(page)
        devtools.send("WebAuthn.enable")
        added = devtools.send(
            "WebAuthn.addVirtualAuthenticator", {"options": {**DEVICE, **options}}
        )
        key = soft.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        credential = {
            "credentialId": b64encode(soft.credential_id).decode(),
            "isResidentCredential": True,
            "rpId": HOST,
            "privateKey": b64encode(key).decode(),
            "userHandle": b64encode(person.pk.bytes).decode(),
            "signCount": 1,
        }
        devtools.send("WebAuthn.addCredential", {**added, "credential": credential})

    return give


@pytest.fixture
def person(owner: User, delegate: User) -> User:
    give_password(delegate)
    return delegate


def press(page: Page) -> None:
    page.get_by_role("button", name="Sign in with a passkey").click()


def type_password(page: Page, person: User) -> None:
    page.get_by_label("Work e-mail").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_passkey_signs_in_without_an_address_and_leads_on(open_page, person, give_device):
    # A device that answers without being asked would answer what is only offered, too.
    page = open_page("/sign-in?next=/people")
    page.add_init_script("delete window.PublicKeyCredential?.isConditionalMediationAvailable")
    page.reload()
    inspect(page, "sign-in-with-passkey")
    give_device(page, person)
    press(page)
    expect(page).to_have_url("https://invoices.example/people")
    expect(page.get_by_role("link", name=person.name).first).to_be_visible()


def test_the_browser_offers_a_passkey_before_anything_is_pressed(open_page, person, give_device):
    page = open_page("about:blank")
    give_device(page, person)
    page.goto("/sign-in?next=/people")
    expect(page).to_have_url("https://invoices.example/people")


def test_who_does_not_confirm_reads_why_and_tries_again(open_page, person, give_device):
    page = open_page("about:blank")
    page.add_init_script("delete window.PublicKeyCredential?.isConditionalMediationAvailable")
    give_device(page, person, isUserVerified=False)
    page.goto("/sign-in")
    press(page)
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used")
    inspect(page, "sign-in-without-confirmation")
    type_password(page, person)
    expect(page).to_have_url("https://invoices.example/")


def test_a_browser_without_passkeys_says_so(open_page):
    page = open_page("about:blank")
    page.add_init_script("delete window.PublicKeyCredential")
    page.goto("/sign-in")
    expect(page.get_by_text("This browser cannot use passkeys.")).to_be_visible()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_disabled()


def test_a_passkey_that_was_removed_is_refused_in_one_sentence(open_page, person, give_device):
    page = open_page("about:blank")
    page.add_init_script("delete window.PublicKeyCredential?.isConditionalMediationAvailable")
    give_device(page, person)
    Passkey.objects.update(removed_at=timezone.now())
    page.goto("/sign-in")
    press(page)
    expect(page.get_by_role("alert")).to_contain_text("This passkey could not be used to sign in.")
    inspect(page, "sign-in-refused-passkey")


def test_the_required_day_comes_in_two_steps(open_page, person, colleague, give_device):
    Company.objects.update(passkeys_required_from=today())
    page = open_page("about:blank")
    page.add_init_script("delete window.PublicKeyCredential?.isConditionalMediationAvailable")
    give_device(page, person)
    page.goto("/people")
    type_password(page, person)
    expect(page.get_by_role("status")).to_contain_text("Your password is right.")
    inspect(page, "sign-in-second-step")
    press(page)
    expect(page).to_have_url("https://invoices.example/people")

    give_password(colleague)
    page = open_page("/sign-in")
    type_password(page, colleague)
    expect(page.get_by_role("alert")).to_contain_text("you have no passkey yet")
    inspect(page, "sign-in-no-passkey")


def test_before_the_day_a_banner_tells_it(open_page, person):
    Company.objects.update(passkeys_required_from=today() + timedelta(days=30))
    page = open_page("/documents", person)
    expect(page.get_by_role("note")).to_contain_text("you need a passkey to sign in.")
    inspect(page, "passkey-banner")


def test_the_owner_chooses_the_day_and_makes_a_link_and_confirms_both_with_the_passkey(
    open_page, owner, person, give_device
):
    page = open_page("/admin/invoices/company/", owner)
    give_device(page, owner)
    page.get_by_role("link", name="Passkeys", exact=True).click()
    inspect(page, "passkey-rule")
    day = today() + timedelta(days=30)
    page.get_by_label("From this day (UTC)").fill(day.isoformat())
    page.get_by_role("button", name="Confirm with your passkey").click()
    expect(page.get_by_role("status")).to_contain_text("on nobody signs in without a passkey")
    inspect(page, "passkey-rule-chosen")
    assert Company.objects.get().passkeys_required_from == day
    page.get_by_role("link", name=f"Create a link for {person.name}").click()
    inspect(page, "passkey-link")
    page.get_by_role("button", name="Confirm with your passkey").click()
    link = page.get_by_label("Link", exact=True).input_value()
    assert link.startswith("https://invoices.example/passkeys/link#")
    inspect(page, "passkey-link-made")


def test_who_has_a_passkey_confirms_a_sensitive_act_with_it(open_page, owner, give_device):
    page = open_page("/admin/agent_access/accesssettings/", owner)
    give_device(page, owner)
    page.get_by_role("link", name="Turn on Agent access").click()
    expect(page.get_by_label("Your own password")).to_have_count(0)
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("status")).to_have_text("Agent access is on.")
    assert AccessSettings.read().access_on
