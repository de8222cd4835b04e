"""The owner at the consent page, in a real browser that returns to a real program."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from typing_extensions import override

from agent_access.models import Connection
from agent_access.waiting import subjects
from tests.browser.inspection import inspect
from tests.factories import PASSWORD, UserFactory, give_password
from tests.oauth.programs import BASE_URL, make_program
from tests.tool_table import SCOPES

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

ALL = " ".join(SCOPES)


@dataclass
class Callback:
    """A program's own server on the owner's computer, and what came back to it."""

    address: str
    answers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def callback(request) -> Iterator[Callback]:
    host = getattr(request, "param", "127.0.0.1")
    answers: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                answers.append(dict(parse_qsl(urlsplit(self.path).query)))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<h1>You can close this window</h1>")

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        address_family = 10 if host == "[::1]" else 2

    server = Server((host.strip("[]"), 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Callback(f"http://{host}:{server.server_port}/callback", answers)
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("callback", ["127.0.0.1", "localhost", "[::1]"], indirect=True)
@pytest.mark.requirement("sign_in.authorize", "sign_in.owner_checks_client")
def test_the_owner_signs_in_allows_and_returns_to_the_program(
    open_page, owner, delegate, sign_in_on, callback
):
    give_password(owner)
    page = open_page(make_program(callback.address).authorize_path(scope=ALL))
    page.get_by_label("Work e-mail").fill(owner.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()

    expect(page.get_by_role("main")).to_contain_text(callback.address)
    expect(page.get_by_label("Ask for invoices to be issued")).not_to_be_checked()
    page.get_by_label("Acts as").select_option(label=f"Dana Delegate ({delegate.email})")
    page.get_by_label("Create and change draft invoices").uncheck()
    page.get_by_label("Expires in days").fill("7")
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Allow access").click()

    expect(page.get_by_role("heading", name="You can close this window")).to_be_visible()
    assert sorted(callback.answers[0]) == ["code", "iss", "state"]
    held = Connection.objects.get()
    assert (held.user, held.grants) == (
        delegate,
        ["customers:read", "invoices:read", "people:read"],
    )


def test_the_owner_refuses_without_choosing_anything(open_page, owner, sign_in_on, callback):
    page = open_page(make_program(callback.address).authorize_path(), owner)
    page.get_by_role("button", name="Refuse").click()
    expect(page.get_by_role("heading", name="You can close this window")).to_be_visible()
    assert callback.answers == [{"error": "access_denied", "state": "a state", "iss": BASE_URL}]


def test_the_owner_goes_back_from_a_wrong_request(open_page, owner, sign_in_on, callback):
    path = make_program(callback.address).authorize_path(response_type="token")
    page = open_page(path, owner)
    expect(page.get_by_role("main")).to_contain_text(callback.address)
    assert callback.answers == []
    page.get_by_role("link", name="Return to").click()
    expect(page.get_by_role("heading", name="You can close this window")).to_be_visible()
    [answer] = callback.answers
    assert answer.pop("error_description") == "Send response_type=code."
    assert answer == {"error": "unsupported_response_type", "state": "a state", "iss": BASE_URL}


@pytest.mark.whole_browser  # the shell sends nothing of what a redirect leads to through a route
def test_the_return_to_a_website_passes_the_policy(open_page, owner, delegate, sign_in_on):
    page = open_page("/oauth/authorize", owner)
    page.context.route("https://client.example/**", lambda route: route.fulfill(body="Welcome"))
    page.goto(make_program("https://client.example/callback").authorize_path())
    page.get_by_label("Acts as").select_option(index=1)
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Allow access").click()
    expect(page.get_by_text("Welcome")).to_be_visible()
    assert urlsplit(page.url).netloc == "client.example"


def test_every_state_reads_well(open_page, owner, delegate, sign_in_on):
    page = open_page("/", owner)
    page.goto(make_program("https://client.example/callback").authorize_path(scope=ALL))
    inspect(page, "consent")
    page.get_by_role("button", name="Allow access").evaluate("b => b.form.noValidate = true")
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    page.get_by_label("Expires in days").fill("99")
    page.get_by_role("button", name="Allow access").click()
    expect(page.get_by_text("Choose at least one, or refuse.")).to_be_visible()
    inspect(page, "consent-mended")
    long = "http://127.0.0.1/" + "a-very-long-path-without-any-space/" * 8
    page.goto(make_program(long, name="M" * 100).authorize_path(scope=ALL))
    inspect(page, "consent-long")
    far = f"https://{'a-very-long-name.' * 12}example/" + "and-a-very-long-path/" * 8
    page.goto(make_program(far).authorize_path(scope="all"))
    inspect(page, "consent-return")
    page.goto("/oauth/authorize?client_id=nobody")
    inspect(page, "consent-unknown")


def test_a_person_asks_and_goes_on_by_itself_once_the_owner_allows_in_another_browser(
    open_page, owner, delegate, sign_in_on, callback
):
    page = open_page(make_program(callback.address).authorize_path(), delegate)
    inspect(page, "consent-ask")
    page.get_by_label("Expires in days").fill("7")
    page.get_by_role("button", name="Ask the owner").click()
    expect(page.get_by_role("heading", name="Waiting for the owner")).to_be_visible()
    inspect(page, "consent-asked")

    [waits] = subjects["access_request"].find_pending(owner, now=timezone.now())
    owners = open_page(waits.path, owner)
    inspect(owners, "access-request")
    owners.get_by_label("Your own password").fill(PASSWORD)
    owners.get_by_role("button", name="Allow access").click()
    expect(owners.get_by_role("status")).to_contain_text("It was allowed at")
    inspect(owners, "access-request-allowed")

    expect(page.get_by_role("heading", name="You can close this window")).to_be_visible()
    assert sorted(callback.answers[0]) == ["code", "iss", "state"]
    assert Connection.objects.get().user == delegate


def test_a_guest_reads_that_only_the_owner_can(open_page, company, sign_in_on):
    guest = UserFactory.create(is_guest=True)
    page = open_page(make_program("https://client.example/").authorize_path(), guest)
    expect(page.get_by_role("main")).to_contain_text("Only the owner of this application")
    inspect(page, "consent-not-the-owner")
