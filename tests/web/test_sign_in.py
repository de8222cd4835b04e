"""Who gets in, and what a signed-out person learns."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from agent_access.discovery import RESOURCE_PATH
from agent_access.tools import API_PATH
from invoicing.models import User
from invoicing.web.sessions import SessionStore, digest_session_key
from tests.browsers import Browser
from tests.factories import PASSWORD, UserFactory
from tests.web.forms import main_of, read_form, text_of

pytestmark = pytest.mark.django_db

COOKIE = settings.SESSION_COOKIE_NAME
REFUSED = "This e-mail address and password do not let anybody in."


def sign_in_with(browser: Client, username: str, password: str = PASSWORD, **fields: str):
    return browser.post("/sign-in", {"username": username, "password": password, **fields})


def test_a_person_comes_back_to_the_page_that_was_asked_for(browser, person):
    asked = browser.get("/documents?search=a%20b")
    assert (asked.status_code, asked["Location"]) == (
        302,
        "/sign-in?next=/documents%3Fsearch%3Da%2520b",
    )
    form = main_of(browser.get(asked["Location"]))
    assert 'name="next" value="/documents?search=a%20b"' in form
    answer = sign_in_with(browser, person.email, next="/documents?search=a%20b")
    assert (answer.status_code, answer["Location"]) == (302, "/documents?search=a%20b")
    assert browser.get("/documents").status_code == 200


def test_an_address_signs_in_however_its_letters_are_typed(browser, person):
    assert sign_in_with(browser, f" {person.email.upper()} ").status_code == 302


def test_signing_out_ends_the_session(browser, person):
    sign_in_with(browser, person.email)
    key = browser.cookies[COOKIE].value
    assert browser.get("/sign-out").status_code == 405
    assert browser.post("/sign-out")["Location"] == "/sign-in"
    assert not Session.objects.exists()
    browser.cookies[COOKIE] = key
    assert browser.get("/documents").status_code == 302


@pytest.mark.parametrize(
    "username", ["person", "nobody@halden.example", "inactive", "no password", "", "x" * 300, "\0"]
)
def test_every_refusal_reads_the_same(browser, person, username):
    UserFactory.create(email="inactive", password=make_password(PASSWORD), is_active=False)
    UserFactory.create(email="no password")
    name = person.email if username == "person" else username
    answer = sign_in_with(browser, name, "wrong" if username == "person" else PASSWORD)
    assert answer.status_code == 422
    assert REFUSED in text_of(answer)
    assert not Session.objects.exists()
    shown = main_of(answer).replace(" autofocus", "")
    other = main_of(sign_in_with(Browser(), "somebody@else.example", "wrong"))
    if username in {"person", "nobody@halden.example", "inactive", "no password"}:
        assert shown.replace(name, "") == other.replace(" autofocus", "").replace(
            "somebody@else.example", ""
        )


@pytest.mark.parametrize("username", ["person", "nobody@halden.example", "no password"])
def test_every_refusal_costs_one_password_digest(browser, person, username, monkeypatch):
    digests: list[str] = []
    hasher = "django.contrib.auth.hashers.MD5PasswordHasher.encode"

    def encode(*args: object, **kwargs: object) -> str:
        digests.append("one")
        return "md5$salt$digest"

    monkeypatch.setattr(hasher, encode)
    UserFactory.create(email="no password")
    sign_in_with(browser, person.email if username == "person" else username, "wrong")
    assert digests == ["one"]


def test_the_password_is_never_shown_again(browser, person):
    answer = sign_in_with(browser, person.email, "a-wrong-password")
    assert "a-wrong-password" not in text_of(answer)
    assert read_form(answer) == {}


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        " //evil.example",
        "evil.example",
    ],
)
def test_nobody_is_led_to_another_place_after_signing_in(browser, person, target):
    assert sign_in_with(browser, person.email, next=target)["Location"] == "/"
    assert browser.get("/sign-in", {"next": target})["Location"] == "/"


def test_a_clients_long_request_for_access_is_come_back_to(browser, person):
    path = f"/oauth/authorize?state={'s' * 4000}"
    assert sign_in_with(browser, person.email, next=path)["Location"] == path


def test_who_has_signed_in_is_led_on(browser, person):
    sign_in_with(browser, person.email)
    assert browser.get("/sign-in?next=/people")["Location"] == "/people"


def test_a_session_that_somebody_else_knew_is_not_continued(browser, person):
    """Session fixation: the key changes when a person signs in."""
    planted = SessionStore()
    planted["seen"] = "by a stranger"
    planted.create()
    browser.cookies[COOKIE] = str(planted.session_key)
    sign_in_with(browser, person.email)
    assert browser.cookies[COOKIE].value != planted.session_key
    assert not SessionStore().exists(str(planted.session_key))
    stranger = Browser()
    stranger.cookies[COOKIE] = str(planted.session_key)
    assert stranger.get("/documents").status_code == 302


def test_the_database_holds_no_session_key_that_lets_somebody_in(browser, person):
    sign_in_with(browser, person.email)
    key = browser.cookies[COOKIE].value
    stored = Session.objects.get()
    assert stored.session_key == digest_session_key(key) != key
    assert key not in stored.session_data
    thief = Browser()
    thief.cookies[COOKIE] = stored.session_key
    assert thief.get("/documents").status_code == 302


def test_cookies_are_for_this_host_over_https_and_no_script(browser, person):
    browser.get("/sign-in")
    sign_in_with(browser, person.email)
    assert set(browser.cookies) == {"__Host-session", "__Host-csrf"}
    for cookie in browser.cookies.values():
        assert (cookie["secure"], cookie["httponly"]) == (True, True)
        assert (cookie["samesite"], cookie["path"], cookie["domain"]) == ("Lax", "/", "")


@pytest.mark.parametrize(
    "change",
    [
        {"session_revision": 2},
        {"is_active": False},
        {"is_guest": True},
        {"is_staff": True},
        {"is_superuser": True},
        {"password": make_password("another-password")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_session_ends_with_what_it_was_opened_for(sign_in, person, change):
    browser = sign_in(person)
    assert browser.get("/documents").status_code == 200
    User.objects.filter(pk=person.pk).update(**change)
    assert browser.get("/documents").status_code == 302


def test_losing_a_permission_ends_no_session(sign_in, person):
    browser = sign_in(person)
    person.user_permissions.clear()
    answer = browser.get("/documents")
    assert answer.status_code == 403
    assert "You may not see this page" in main_of(answer)


def test_a_session_ends_after_twelve_hours_of_work(sign_in, person, time_machine):
    time_machine.move_to("2026-03-02T08:00:00+00:00", tick=False)
    browser = sign_in(person)
    time_machine.move_to("2026-03-02T19:59:59+00:00", tick=False)
    assert browser.get("/documents").status_code == 200
    time_machine.move_to("2026-03-02T20:00:01+00:00", tick=False)
    assert browser.get("/documents").status_code == 302


def test_what_a_page_keeps_in_a_session_puts_its_end_not_off(browser, person, time_machine):
    time_machine.move_to("2026-03-02T08:00:00+00:00", tick=False)
    sign_in_with(browser, person.email)
    time_machine.move_to("2026-03-02T19:59:59+00:00", tick=False)
    session = browser.session
    session["message"] = "Saved."
    session.save()
    assert browser.get("/documents").status_code == 200
    time_machine.move_to("2026-03-02T20:00:01+00:00", tick=False)
    assert browser.get("/documents").status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_an_account_can_be_tried_ten_times_in_five_minutes_from_one_address(
    browser, person, time_machine
):
    for _ in range(10):
        assert sign_in_with(browser, person.email, "wrong").status_code == 422
    refused = sign_in_with(browser, person.email.upper())
    assert refused.status_code == 429
    assert "Too many attempts." in text_of(refused)
    assert 1 <= int(refused["Retry-After"]) <= 301
    assert sign_in_with(browser, "another@halden.example").status_code == 422
    elsewhere = Browser(REMOTE_ADDR="192.0.2.1")
    assert sign_in_with(elsewhere, person.email).status_code == 302
    time_machine.shift(int(refused["Retry-After"]))
    assert sign_in_with(browser, person.email).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_of_ipv6_a_whole_64_is_one_address(browser, person):
    for attempt in range(10):
        neighbour = Browser(REMOTE_ADDR=f"2001:db8::{attempt}:1")
        assert sign_in_with(neighbour, person.email, "wrong").status_code == 422
    assert sign_in_with(Browser(REMOTE_ADDR="2001:db8::9"), person.email).status_code == 429
    assert sign_in_with(Browser(REMOTE_ADDR="2001:db8:0:1::9"), person.email).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_an_account_can_be_tried_a_hundred_times_from_everywhere(browser, person):
    for attempt in range(100):
        elsewhere = Browser(REMOTE_ADDR=f"192.0.2.{attempt}")
        assert sign_in_with(elsewhere, person.email, "").status_code == 422
    assert sign_in_with(browser, person.email).status_code == 429


@pytest.mark.usefixtures("_clock_stands_still")
def test_an_address_can_try_thirty_times_and_locks_nobody_out(browser, person):
    for attempt in range(30):
        assert sign_in_with(browser, f"{attempt}@x.example", "").status_code == 422
    for _ in range(20):
        assert sign_in_with(browser, person.email).status_code == 429
    elsewhere = Browser(REMOTE_ADDR="192.0.2.1")
    assert sign_in_with(elsewhere, person.email).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_the_address_is_the_one_behind_the_trusted_proxy(browser, settings):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "TRUSTED_PROXIES": 1}
    statuses = []
    for attempt in range(31):
        headers = {"X-Forwarded-For": f"203.0.113.{attempt}", "X-Forwarded-Proto": "https"}
        form = {"username": f"{attempt}@x.example", "password": ""}
        statuses.append(browser.post("/sign-in", form, headers=headers).status_code)
    assert statuses == [422] * 31


@pytest.mark.usefixtures("_clock_stands_still")
def test_a_household_is_one_address(browser):
    def try_from(address: str) -> int:
        return int(sign_in_with(Browser(REMOTE_ADDR=address), "nobody@x.example", "").status_code)

    for attempt in range(30):
        form = {"username": f"{attempt}@x.example", "password": ""}
        Browser(REMOTE_ADDR=f"2001:db8::{attempt}").post("/sign-in", form)
    assert try_from("2001:db8::ffff") == 429
    assert try_from("2001:db8:0:1::1") == 422


@pytest.mark.parametrize("address", ["", "unix:", "not an address", "1.2.3.4:80"])
def test_a_client_without_a_usable_address_can_sign_in(person, address):
    browser = Browser(REMOTE_ADDR=address)
    assert sign_in_with(browser, person.email, "wrong").status_code == 422
    assert sign_in_with(browser, person.email).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_clients_without_a_usable_address_are_counted_together(person):
    for attempt in range(30):
        sign_in_with(Browser(REMOTE_ADDR="unix:"), f"{attempt}@x.example", "")
    assert sign_in_with(Browser(REMOTE_ADDR=""), person.email).status_code == 429


@pytest.mark.usefixtures("_clock_stands_still")
def test_an_unknown_account_is_limited_like_a_known_one(browser):
    statuses = [sign_in_with(browser, "nobody@halden.example").status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]


class GoneCache:
    def add(self, *args: object) -> bool:
        raise ConnectionError


def test_nobody_is_let_in_uncounted(browser, person, monkeypatch):
    monkeypatch.setattr("django_ratelimit.core.caches", {"default": GoneCache()})
    answer = sign_in_with(browser, person.email)
    assert answer.status_code == 503
    assert "Not available just now" in main_of(answer)
    assert answer["Retry-After"] == "60"
    assert not Session.objects.exists()


# The tools authenticate by credential; the authorization server (tests/oauth) and the
# administration (tests/admin) guard themselves.
OTHER_ROUTES = (API_PATH.lstrip("/"), RESOURCE_PATH.lstrip("/"), ".well-known/", "oauth/", "admin")


def all_pages() -> list[URLPattern]:
    def walk(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
        for each in patterns:
            if str(each.pattern).lstrip("^").startswith(OTHER_ROUTES):
                continue
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns)
            else:
                yield each

    return list(walk(get_resolver().url_patterns))


OPEN = {"sign-in", "set-password"}
# These guard themselves: sign-out needs no permission, and a one-time code is one.
UNGUARDED = {"sign-in", "sign-out", "set-password"}


@pytest.mark.parametrize("route", all_pages(), ids=lambda route: route.name)
def test_every_page_but_sign_in_asks_who_is_there(browser, company, route):
    path = "/" + str(route.pattern).replace("<uuid:pk>", str(company.id))
    for method in (browser.get, browser.post):
        answer = method(path)
        if route.name in OPEN:
            assert answer.status_code in {200, 422}
        else:
            assert (answer.status_code, answer["Location"]) == (302, f"/sign-in?next={path}")


@pytest.mark.parametrize("route", all_pages(), ids=lambda route: route.name)
def test_every_page_says_which_permissions_it_needs(route):
    assert route.name in UNGUARDED or hasattr(route.callback, "permissions")


@pytest.mark.parametrize("route", all_pages(), ids=lambda route: route.name)
def test_no_page_shows_anything_to_a_person_without_permissions(company, sign_in, route):
    nobody = sign_in(UserFactory.create())
    path = "/" + str(route.pattern).replace("<uuid:pk>", str(company.id))
    answer = nobody.get(path)
    permissions = getattr(route.callback, "permissions", ())
    assert answer.status_code == 403 if permissions else answer.status_code != 403
    assert "Halden Works" not in text_of(answer)


def test_the_start_leads_to_the_first_room_that_is_open(sign_in, person, company):
    assert sign_in(person).get("/")["Location"] == "/documents"
    assert sign_in(UserFactory.create()).get("/")["Location"] == "/approvals"
