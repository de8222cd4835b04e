"""A browser added on the account page, and a notification shown there and clicked."""

import json

import pytest
from django.utils import timezone
from playwright.sync_api import CDPSession, Page, expect

from agent_access.telling.devices import unseal_subscription
from agent_access.telling.models import Device
from agent_access.telling.preferences import mute, read_preferences
from agent_access.telling.sending import public_key
from invoicing.services.drafts import ConnectionRef
from tests.approvals import prepare
from tests.browser.conftest import ORIGIN
from tests.browser.inspection import follow, inspect
from tests.factories import make_draft
from tests.telling.push_service import WEB_PUSH_KEY, encode
from tests.web.reviews import path_of

# A page looks and acts the same on both databases; tests/telling/ asks both.
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.sqlite,
    pytest.mark.whole_browser,
]

# What a push service that the tests reach would give: a real one is outside.
SUBSCRIBE = """PushManager.prototype.subscribe = async ({applicationServerKey}) => ({
    endpoint: `https://push.example/${applicationServerKey}`,
    keys: {p256dh: "%s", auth: "%s"},
})"""
SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
    .map(({title, body, tag}) => ({title, body, tag}))"""
# A script may open nothing by itself, so what it would open, and bring to the front, is noted.
CLICK = """async () => {
    const opened = [], waits = [];
    self.clients.openWindow = async (href) => { opened.push(href); };
    WindowClient.prototype.focus = async function () { opened.push(`front: ${this.url}`); };
    for (const notification of await self.registration.getNotifications()) {
        const click = new NotificationEvent("notificationclick", {notification});
        click.waitUntil = (wait) => { waits.push(wait); };
        self.dispatchEvent(click);
    }
    await Promise.all(waits);
    return opened;
}"""
# The base point of the curve, which is on it.
POINT = encode(
    bytes.fromhex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    )
)


def find_registration(devtools: CDPSession, page: Page) -> str:
    """Return under which name the browser keeps the script for notifications."""
    found: list[str] = []
    devtools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: found.extend(each["registrationId"] for each in event["registrations"]),
    )
    devtools.send("ServiceWorker.enable")
    while not found:
        page.wait_for_timeout(20)
    return found[0]


def test_the_owner_chooses_the_heads_of_the_audit(open_page, owner, settings):
    settings.AGENT_ACCESS |= {"MAIL_FROM": "invoices@a.example"}
    page = open_page("/account", owner)
    page.get_by_label("Send me the heads of the audit by mail each week").check()
    follow(page.locator("form", has_text="Quiet from").get_by_role("button", name="Save"))
    expect(page.get_by_role("status")).to_have_text("It is saved.")
    assert read_preferences(owner).wants_heads
    inspect(page, "heads-of-the-audit-by-mail")


def test_a_notification_is_shown_and_its_click_opens_the_review_page(
    open_page, delegate, customer, connection, settings
):
    settings.AGENT_ACCESS |= {"WEB_PUSH_KEY": WEB_PUSH_KEY, "MAIL_FROM": "invoices@a.example"}
    maker = ConnectionRef(connection.id, "Ledger agent")
    draft = make_draft(user=delegate, customer=customer)
    path = path_of(prepare(draft, user=delegate, connection=maker, now=timezone.now()))
    mute(delegate, connection.id)

    page = open_page("/documents", delegate, permissions=["notifications"])
    page.add_init_script(SUBSCRIBE % (POINT, encode(b"a" * 16)))
    page.goto("/account")
    follow(page.get_by_role("button", name="Tell me on this browser"))
    expect(page.get_by_role("status")).to_have_text("It is saved.")
    device = unseal_subscription(Device.objects.get().sealed)
    assert device.endpoint == f"https://push.example/{public_key()}"
    inspect(page, "how-you-are-told")

    devtools = page.context.new_cdp_session(page)
    name = find_registration(devtools, page)

    def deliver(path: str, tag: str) -> None:
        told = {"title": "Ledger agent asks you to decide", "body": "Now", "path": path, "tag": tag}
        message = {"origin": ORIGIN, "registrationId": name, "data": json.dumps(told)}
        devtools.send("ServiceWorker.deliverPushMessage", message)

    deliver(path, "first")
    deliver(path, "first")  # in the place of the one before
    deliver("//evil.example/x", "second")
    page.wait_for_function(f"async () => (await ({SHOWN})()).length === 2")
    title = "Ledger agent asks you to decide"
    assert page.evaluate(SHOWN) == [
        {"title": title, "body": "Now", "tag": tag} for tag in ("first", "second")
    ]
    [worker] = page.context.service_workers
    assert worker.evaluate(CLICK) == [f"{ORIGIN}{path}"]
    assert page.evaluate(SHOWN) == []

    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Issue")
    deliver(path, "first")
    page.wait_for_function(f"async () => (await ({SHOWN})()).length === 1")
    assert worker.evaluate(CLICK) == [f"front: {ORIGIN}{path}"]
