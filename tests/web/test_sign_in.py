"""Who gets in, and what a signed-out person learns."""

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session

from invoicing.models import User
from invoicing.web.accounts.sessions import SessionStore, digest_session_key
from tests.browsers import Browser, sign_in_with
from tests.factories import PASSWORD, UserFactory
from tests.web.forms import main_of, read_form, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


COOKIE = settings.SESSION_COOKIE_NAME
REFUSED = "This e-mail address and password cannot be used to sign in."


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
        *("https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example"),
        *("https:evil.example", "javascript:alert(1)", "/\t/evil.example", " //evil.example"),
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
    assert set(browser.cookies) == {"__Host-session", "__Host-csrf", "__Host-device"}
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


@pytest.mark.parametrize("is_written", [False, True], ids=["as it was", "written to"])
def test_a_session_ends_after_twelve_hours_whatever_a_page_keeps_in_it(
    browser, person, time_machine, is_written
):
    time_machine.move_to("2026-03-02T08:00:00+00:00", tick=False)
    sign_in_with(browser, person.email)
    time_machine.move_to("2026-03-02T19:59:59+00:00", tick=False)
    if is_written:
        session = browser.session
        session["message"] = "Saved."
        session.save()
    assert browser.get("/documents").status_code == 200
    time_machine.move_to("2026-03-02T20:00:01+00:00", tick=False)
    assert browser.get("/documents").status_code == 302
