"""The consent page: what the owner reads, what they choose, and that only they can."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent_access.models import AuditEvent, Connection
from agent_access.oauth.models import Grant
from invoicing.access import Permission
from invoicing.models import Company
from tests.factories import UserFactory
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import BASE_URL, REFUSAL, Browser, answer_of, parameters_of
from tests.tool_table import SCOPES

pytestmark = pytest.mark.sqlite  # what is read here asks no database


ALL = " ".join(SCOPES)


def text_of(response) -> str:
    return str(response.content, "utf-8")


@pytest.mark.requirement("sign_in.authorize", "sign_in.owner_checks_client")
def test_the_page_shows_the_client_and_its_exact_return_address(path, program, browser):
    with nothing_changes():
        response = browser.open(path)
    page = text_of(response)
    assert response.status_code == 200
    assert "<bdi>Ledger agent</bdi>" in page
    assert "<code>https://client.example/callback</code>" in page
    assert "nothing but its own registration" in page
    assert "Search customers and see their names." in page
    assert "Read invoices and drafts" in page
    assert "Create and change draft invoices" not in page
    assert "a program on the computer that you are using now" not in page
    for words in ("Acts as", "Expires in days", "Allow access", "Refuse"):
        assert words in page
    assert response["Cache-Control"] == "no-store"


def test_a_program_on_the_owners_computer_is_named_as_such(register_program, browser):
    program = register_program("http://127.0.0.1/callback")
    program.return_address = "http://127.0.0.1:51234/callback"
    page = text_of(browser.open(program.authorize_path()))
    assert "<code>http://127.0.0.1:51234/callback</code>" in page
    assert "a program on the computer that you are using now" in page


def test_nobody_is_chosen_beforehand_and_no_scope_that_cannot_be_undone(program, browser, delegate):
    page = text_of(browser.open(program.authorize_path(scope=ALL)))
    options = re.findall(r"<option value=\"([^\"]*)\"( selected)?>", page)
    assert [value for value, selected in options if selected] == [""]
    boxes = re.findall(r"<input type=\"checkbox\"[^>]*value=\"([^\"]+)\"[^>]*?( checked)?>", page)
    assert [value for value, _ in boxes] == list(SCOPES)
    assert [value for value, ticked in boxes if not ticked] == ["invoices:execute"]


def test_only_active_staff_can_be_acted_for(path, browser, delegate, owner):
    guest = UserFactory.create(name="Gwen Guest", is_guest=True)
    gone = UserFactory.create(name="Ivan Gone", is_active=False)
    page = text_of(browser.open(path))
    assert f"Dana Delegate ({delegate.email})" in page
    assert f"Olivia Owner ({owner.email})" in page
    assert "Gwen Guest" not in page
    assert "Ivan Gone" not in page
    with nothing_changes():
        assert [browser.allow(path, person).status_code for person in (guest, gone)] == [422, 422]


@pytest.mark.requirement("sign_in.authorize")
def test_allowing_makes_the_connection_and_the_code_together(
    path, program, browser, delegate, owner
):
    response = browser.allow(path, delegate, scopes=["invoices:read"], days=7)
    answer = parameters_of(response)
    connection = Connection.objects.get()
    assert response["Location"].startswith("https://client.example/callback?")
    assert {**answer, "code": ""} == {"code": "", "state": "a state", "iss": BASE_URL}
    assert (connection.user, connection.owner_id) == (delegate, owner.id)
    assert (connection.kind, connection.credential_digest) == ("browser", None)
    assert (connection.client_id, connection.client_host) == (program.client_id, "client.example")
    assert connection.name == connection.client_name == "Ledger agent"
    assert connection.grants == ["invoices:read"]
    assert connection.expires_at - connection.created_at == timedelta(days=7)
    assert Grant.objects.get().connection == connection
    event = AuditEvent.objects.latest("occurred_at")
    told = (event.action, event.actor_id, event.transport)
    assert told == ("connection:created", owner.id, "web")


def test_refusing_goes_back_without_anything(path, program, browser, owner):
    fields = REFUSAL | {"redirect_uri": "https://evil.example/"}
    with nothing_changes():
        response = browser.send(path, fields)
    told = {"error": "access_denied", "state": "a state", "iss": BASE_URL}
    assert parameters_of(response) == told
    assert response["Location"].startswith("https://client.example/callback?")
    event = AuditEvent.objects.latest("occurred_at")
    assert (event.action, event.actor_id) == ("consent:refused", owner.id)
    assert event.target == program.client_id


WRONG_CHOICES: tuple[dict[str, Any], ...] = (
    {"acts_as": ""},
    {"acts_as": "nobody"},
    {"scopes": []},
    {"scopes": ["invoices:execute"]},
    {"scopes": ["customers:read", "everything"]},
    *({"expires_in_days": days} for days in ("", "0", "31", "1.5")),
    *({"decision": decision} for decision in ("", "perhaps")),
)


@pytest.mark.requirement("limit.connection_expiry")
def test_a_wrong_choice_is_asked_again(path, browser, delegate, subtests):
    with nothing_changes():
        for change in WRONG_CHOICES:
            with subtests.test(change=str(change)):
                response = browser.send(path, answer_of(delegate) | change)
                assert response.status_code == 422
                assert "Allow access" in text_of(response)
        page = text_of(browser.allow(path, delegate, days=31))
    assert "<title>Please correct: Allow access? · Invoicing</title>" in page
    shortest, longest = (browser.allow(path, delegate, days=d) for d in (1, 30))
    assert shortest.status_code == longest.status_code == 302


def test_consent_is_always_asked_and_never_remembered(program, browser, pair):
    for extra in ({}, {"approval_prompt": "auto"}, {"prompt": "none"}):
        response = browser.open(program.authorize_path(scope=ALL, **extra))
        assert response.status_code == 200
        assert "Allow access" in text_of(response)
    assert Connection.objects.count() == 1


def test_whoever_is_signed_out_signs_in_first_and_comes_back(path):
    response = Browser().open(path)
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in?next=/oauth/authorize%3F")


def test_nobody_consents_in_a_session_that_a_password_alone_began(path, browser, delegate):
    Company.objects.update(passkeys_required_from=timezone.now().date())
    for response in (browser.open(path), browser.allow(path, delegate)):
        assert response.status_code == 302
        assert response["Location"].startswith("/sign-in?next=/oauth/authorize%3F")
    assert not Connection.objects.exists()


@pytest.mark.parametrize("method", ["open", "allow"])
def test_only_the_owner_can_allow_whatever_else_somebody_may(path, delegate, method):
    delegate.is_staff = delegate.is_superuser = True
    delegate.save()
    delegate.refresh_from_db()  # the revision of their sessions
    other = Browser(delegate)
    with nothing_changes():
        response = other.open(path) if method == "open" else other.allow(path, delegate)
    assert response.status_code == {"open": 200, "allow": 409}[method]
    assert "Only the owner of this application can allow access." in text_of(response)
    assert "Acts as" not in text_of(response)


@pytest.mark.parametrize("method", ["open", "allow"])
def test_a_guest_neither_allows_nor_asks(path, delegate, method):
    guest = UserFactory.create(is_guest=True, permissions=tuple(Permission))
    browser = Browser(guest)
    with nothing_changes():
        response = browser.open(path) if method == "open" else browser.allow(path, delegate)
    assert response.status_code == 403
    assert "Only the owner of this application can allow access." in text_of(response)


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_the_page_is_opened_and_answered_in_no_other_way(path, owner, method):
    browser = Browser(owner)
    browser.client.handler.enforce_csrf_checks = True
    headers = {"Host": browser.host}
    with nothing_changes():
        response = browser.client.generic(method, path, secure=True, headers=headers)
    assert (response.status_code, response["Allow"]) == (405, "GET, POST")


def test_a_forged_consent_is_refused_and_an_origin_header_is_no_obstacle(path, owner, delegate):
    browser = Browser(owner)
    browser.client.handler.enforce_csrf_checks = True
    tokens = re.findall(r'csrfmiddlewaretoken" value="([^"]+)"', text_of(browser.open(path)))
    fields = answer_of(delegate) | {"csrfmiddlewaretoken": tokens[-1]}
    with nothing_changes():
        assert browser.allow(path, delegate).status_code == 403
        assert browser.send(path, fields, Origin="https://evil.example").status_code == 403
    assert browser.send(path, fields, Origin=BASE_URL).status_code == 302


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("https://client.example/callback", "https://client.example"),
        ("https://client.example:8443", "https://client.example:8443"),
        ("http://127.0.0.1:6274/callback", "http://127.0.0.1:6274"),
        ("http://[::1]:6274/callback", "http:"),
    ],
)
def test_the_page_cannot_be_framed_and_its_form_ends_at_the_client(
    register_program, browser, address, source
):
    response = browser.open(register_program(address).authorize_path())
    policy = response["Content-Security-Policy"]
    assert f"form-action 'self' {source};" in f"{policy};"
    assert "frame-ancestors 'none'" in policy
    assert response["X-Frame-Options"] == "DENY"


def test_a_name_with_markup_is_only_a_text(register_program, browser):
    program = register_program(name="<script>alert(1)</script>\u202e\u2066\u200b\u3164\"'>")
    page = text_of(browser.open(program.authorize_path()))
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&gt;" in page
    assert [character for character in "\u202e\u2066\u200b\u3164" if character in page] == []


def test_a_client_with_a_long_host_can_be_allowed(register_program, browser, delegate):
    host = "a-long-label-of-a-host." * 10 + "example"
    program = register_program(f"https://{host}/callback", name="")
    response = browser.allow(program.authorize_path(), delegate)
    assert response["Location"].startswith(f"https://{host}/callback?")
    held = Connection.objects.get()
    assert (held.name, held.client_host) == (f"…{host[-99:]}", host)
