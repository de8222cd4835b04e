"""Passkeys made and used by a real browser, whose authenticator is a virtual one."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from agent_access.audit import Actor, make_origin
from agent_access.models.audit import Transport
from agent_access.passkeys.keeping import make_link
from agent_access.passkeys.links import address_of
from agent_access.passkeys.models import Passkey
from invoicing.models import User
from tests.browser.inspection import inspect
from tests.factories import PASSWORD, give_password
from tests.passkeys import SoftPasskey

# A page looks and acts the same on both databases; tests/agent_access/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

DEVICE = {
    "protocol": "ctap2",
    "ctap2Version": "ctap2_1",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
# What older browsers lack, which the script must not need.
OLDER = """if (window.PublicKeyCredential) {
    delete PublicKeyCredential.parseCreationOptionsFromJSON;
    delete PublicKeyCredential.parseRequestOptionsFromJSON;
    delete PublicKeyCredential.prototype.toJSON;
}"""

Plug = Callable[..., Callable[[], None]]


@pytest.fixture
def plug() -> Plug:
    """Return a function that gives a page's browser an authenticator, and returns its end."""

    def add(page: Page, **options: Any) -> Callable[[], None]:
        devtools = page.context.new_cdp_session(page)
        devtools.send("WebAuthn.enable")
        added = devtools.send(
            "WebAuthn.addVirtualAuthenticator", {"options": {**DEVICE, **options}}
        )

        def unplug() -> None:
            devtools.send("WebAuthn.removeVirtualAuthenticator", added)

        return unplug

    return add


def give_link(owner: User, person: User) -> str:
    actor = Actor(make_origin(Transport.WEB), owner.pk)
    return address_of(make_link(actor, person, maker=owner))


def names_of(person: User) -> list[str]:
    return [each.name for each in Passkey.objects.kept_by(person)]


def use_link(page: Page, link: str, *, name: str, password: str = PASSWORD) -> None:
    page.goto("about:blank")  # a link to the same page with another fragment would load nothing
    page.goto(link)
    expect(page).to_have_url("https://invoices.example/passkeys/link")
    page.get_by_label("Your password").fill(password)
    page.get_by_label("Name of the passkey").fill(name)
    page.get_by_role("button", name="Make the passkey").click()


def test_a_passkey_by_a_link_a_second_one_another_name_and_a_removal(
    open_page, plug, owner, delegate
):
    give_password(delegate)
    page = open_page("/sign-in")
    page.add_init_script(OLDER)
    plug(page)
    use_link(page, give_link(owner, delegate), name="Laptop", password="wrong-password")
    expect(page.get_by_role("alert")).to_have_text(
        "This is not your password, or your account cannot be used."
    )
    inspect(page, "passkey-by-link")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Make the passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your passkey is added")
    assert names_of(delegate) == ["Laptop"]
    inspect(page, "passkey-added-by-link")

    page = open_page("/account", User.objects.get(pk=delegate.pk))
    expect(page.get_by_text("You have one passkey only.")).to_have_count(1)
    inspect(page, "passkeys-one")


def test_the_account_page_by_keyboard_alone(open_page, plug, owner, delegate):
    give_password(delegate)
    page = open_page("/sign-in")
    unplug = plug(page)
    use_link(page, give_link(owner, delegate), name="Laptop")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your passkey is added")
    sign_in(page, delegate)

    # Another device than that which has the first one.
    page.get_by_label("Name of the passkey").fill("Phone")
    page.get_by_text("No agent can use the device").click()
    page.get_by_label("Name of the passkey").press("Enter")
    expect(page.get_by_text("Confirmed. Now make the new passkey")).to_be_visible()
    unplug()
    unplug = plug(page)
    inspect(page, "passkeys-confirmed")
    page.get_by_role("button", name="Make the new passkey").press("Enter")
    expect(page.get_by_role("status")).to_have_text("The passkey is added.")
    assert names_of(delegate) == ["Laptop", "Phone"]
    assert Passkey.objects.get(name="Phone").is_apart
    inspect(page, "passkeys-two")

    page.get_by_text("Rename or remove Laptop").click()
    page.get_by_label("Another name").first.fill("Old laptop")
    page.get_by_label("Another name").first.press("Enter")
    expect(page.get_by_role("status")).to_have_text("The passkey has another name.")
    assert names_of(delegate) == ["Old laptop", "Phone"]

    page.get_by_text("Rename or remove Old laptop").click()
    page.get_by_role("button", name="Remove Old laptop").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The passkey is removed.")
    assert names_of(delegate) == ["Phone"]
    page.reload()  # this session went on
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account")

    unplug()
    plug(page)
    use_link(page, give_link(owner, User.objects.get(pk=delegate.pk)), name="New phone")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your passkey is added")
    assert names_of(delegate) == ["New phone"]


def test_who_does_not_confirm_is_told_so_and_tries_again(open_page, plug, owner, delegate):
    give_password(delegate)
    page = open_page("/sign-in")
    unplug = plug(page, isUserVerified=False)
    use_link(page, give_link(owner, delegate), name="Laptop")
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used: it was cancelled")
    assert names_of(delegate) == []
    unplug()
    plug(page)
    page.get_by_role("button", name="Make the passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your passkey is added")
    assert names_of(delegate) == ["Laptop"]


def test_a_device_is_not_added_twice(open_page, plug, owner, delegate):
    give_password(delegate)
    page = open_page("/sign-in")
    plug(page)
    use_link(page, give_link(owner, delegate), name="Laptop")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your passkey is added")
    sign_in(page, delegate)
    page.get_by_label("Name of the passkey").fill("Again")
    page.get_by_role("button", name="Confirm with your passkey").click()
    page.get_by_role("button", name="Make the new passkey").click()
    told = "This device has a passkey for your account already."
    expect(page.get_by_role("alert")).to_contain_text(told)
    assert names_of(delegate) == ["Laptop"]


def test_a_browser_without_passkeys_or_scripts_says_so(open_page, delegate):
    SoftPasskey().keep_for(delegate)
    page = open_page("/account", delegate)
    page.add_init_script("delete window.PublicKeyCredential")
    page.reload()
    expect(page.get_by_role("alert").first).to_contain_text("This browser cannot use passkeys.")
    expect(page.get_by_role("button", name="Confirm with your passkey")).to_be_disabled()
    page = open_page("/account", delegate, java_script_enabled=False)
    told = page.locator("noscript p").last
    expect(told).to_have_text("To use a passkey, let this browser run the scripts of this page.")
    expect(told).to_be_visible()


def sign_in(page: Page, person: User) -> None:
    # A virtual device answers what the browser only offers, before anything is typed.
    page.add_init_script("delete window.PublicKeyCredential?.isConditionalMediationAvailable")
    page.goto("/sign-in?next=/account")
    page.get_by_label("Work e-mail").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account")
