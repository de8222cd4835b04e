"""Signing in with a passkey, and everything that signs nobody in."""

import orjson
import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from agent_access.passkeys.challenges import LASTS
from agent_access.passkeys.models import Challenge, Passkey
from invoicing.models import User
from invoicing.web.accounts.sessions import PASSKEY_HERE, WITH_PASSKEY, SessionStore
from tests.browsers import Browser
from tests.factories import UserFactory
from tests.passkeys import SoftPasskey, challenge_in
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


REFUSED = "This passkey could not be used to sign in."
OPTIONS, SIGN_IN = "/sign-in/passkey/options", "/sign-in/passkey"
COOKIE = "__Host-session"


@pytest.fixture
def soft() -> SoftPasskey:
    return SoftPasskey(counter=5)


@pytest.fixture
def kept(soft: SoftPasskey, person: User) -> Passkey:
    return soft.keep_for(person)


def ask(browser) -> bytes:
    """Return the challenge that the page's script is given."""
    browser.get("/sign-in")
    return challenge_in(orjson.loads(browser.post(OPTIONS).content)["get"])


def send(browser, assertion: str, **fields: str):
    return browser.post(SIGN_IN, {"assertion": assertion, **fields})


def session_of(browser) -> SessionStore:
    return SessionStore(browser.cookies[COOKIE].value)


def assert_refused(browser, assertion: str) -> None:
    """See that nobody is signed in, and that nothing is written."""
    before = take_snapshot()
    answer = send(browser, assertion)
    assert answer.status_code == 422
    assert REFUSED in main_of(answer)
    assert COOKIE not in browser.cookies
    assert browser.get("/account").status_code == 302
    assert take_snapshot() == before


def test_the_passkey_alone_says_who_signs_in(browser, person, soft, kept):
    browser.get("/sign-in")
    options = orjson.loads(browser.post(OPTIONS).content)["get"]
    assert {name: options[name] for name in ("rpId", "userVerification")} == {
        "rpId": "invoices.example",
        "userVerification": "required",
    }
    assert options.get("allowCredentials", []) == []

    answer = send(browser, soft.sign(challenge_in(options)), next="/documents?search=a%20b")

    assert (answer.status_code, answer["Location"]) == (302, "/documents?search=a%20b")
    assert person.name in browser.get("/account").content.decode()
    kept.refresh_from_db()
    assert kept.counter == 6
    assert kept.last_used_at is not None
    assert User.objects.get(pk=person.pk).last_login is not None


def test_a_session_keeps_a_passkey_that_was_on_this_very_device(soft, kept):
    here, on_a_phone = Browser(), Browser()
    send(here, soft.sign(ask(here)))
    send(on_a_phone, soft.sign(ask(on_a_phone), attachment="cross-platform"))
    assert session_of(here)[PASSKEY_HERE] == str(kept.pk)
    assert PASSKEY_HERE not in session_of(on_a_phone)
    assert session_of(here)[WITH_PASSKEY] is session_of(on_a_phone)[WITH_PASSKEY] is True


def test_a_session_with_a_passkey_ends_when_one_with_a_password_would(soft, kept, settings):
    browser = Browser()
    send(browser, soft.sign(ask(browser)))
    left = Session.objects.get().expire_date - timezone.now()
    assert 0 < settings.SESSION_COOKIE_AGE - left.total_seconds() < 60


def test_a_password_opens_no_session_that_says_it_was_a_passkey(browser, person, soft, kept):
    browser.post("/sign-in", {"username": person.email, "password": "wrong", WITH_PASSKEY: "1"})
    assert COOKIE not in browser.cookies


def test_the_form_that_was_sent_too_late_is_kept(browser, soft, kept, customer):
    typed = "reference=PO+7"
    answer = send(browser, soft.sign(ask(browser)), next="/documents/new", typed=typed)
    assert "PO+7" in answer.content.decode() or "PO 7" in answer.content.decode()


def test_nobody_is_led_to_another_place(browser, soft, kept):
    assert send(browser, soft.sign(ask(browser)), next="//evil.example/")["Location"] == "/"


def test_a_session_that_somebody_else_knew_is_not_continued(browser, soft, kept):
    planted = SessionStore()
    planted["seen"] = "by a stranger"
    planted.create()
    browser.cookies[COOKIE] = str(planted.session_key)
    send(browser, soft.sign(ask(browser)))
    assert browser.cookies[COOKIE].value != planted.session_key
    assert not SessionStore().exists(str(planted.session_key))


@pytest.mark.parametrize(
    "lie",
    [
        {"verifies": False},
        {"is_present": False},
        {"origin": "https://invoices.example.evil"},
        {"origin": "http://invoices.example"},
        {"rp_id": "evil.example"},
        {"is_framed": True},
        {"key": SoftPasskey().key},
        {"counter": 5},
        {"counter": 4},
    ],
    ids=lambda lie: f"{next(iter(lie))} {next(iter(lie.values()))}"[:30],
)
def test_what_is_not_as_it_should_be_signs_nobody_in(browser, soft, kept, lie):
    assert_refused(browser, soft.sign(ask(browser), **lie))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "\0", "nonsense", "9" * 30_000, '{"id": "\\ud800"}']
)
def test_no_text_that_somebody_made_up_signs_in(browser, kept, text):
    ask(browser)
    assert_refused(browser, text)


def test_an_assertion_signs_in_once(browser, soft, kept):
    text = soft.sign(ask(browser))
    assert send(browser, text).status_code == 302
    browser.post("/sign-out")
    browser.cookies.pop(COOKIE)
    assert_refused(browser, text)


def test_an_assertion_of_another_browser_signs_nobody_in(browser, soft, kept):
    other = Browser()
    ask(browser)
    assert_refused(browser, soft.sign(ask(other)))


@pytest.mark.parametrize("purpose", ["approve", "add", "remove"])
def test_what_was_signed_for_something_else_signs_nobody_in(browser, soft, kept, purpose):
    challenge = ask(browser)
    Challenge.objects.update(purpose=purpose)
    assert_refused(browser, soft.sign(challenge))


def test_a_challenge_of_a_person_signs_nobody_in(browser, person, soft, kept):
    challenge = ask(browser)
    Challenge.objects.update(person=person)
    assert_refused(browser, soft.sign(challenge))


def test_a_challenge_is_over_after_five_minutes(browser, soft, kept, time_machine):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    challenge = ask(browser)
    time_machine.move_to(now + LASTS, tick=False)
    assert_refused(browser, soft.sign(challenge))


def test_a_removed_passkey_signs_nobody_in(browser, soft, kept):
    Passkey.objects.update(removed_at=timezone.now())
    assert_refused(browser, soft.sign(ask(browser)))


def test_an_unknown_passkey_signs_nobody_in(browser, kept):
    assert_refused(browser, SoftPasskey().sign(ask(browser)))


def test_a_deactivated_person_has_no_way_in(browser, soft):
    soft.keep_for(UserFactory.create(is_active=False))
    assert_refused(browser, soft.sign(ask(browser)))


def test_a_guest_may_sign_in_as_with_a_password(browser):
    soft = SoftPasskey()
    soft.keep_for(UserFactory.create(is_guest=True))
    assert send(browser, soft.sign(ask(browser))).status_code == 302
    assert browser.get("/admin/").status_code == 403


def test_every_refusal_reads_the_same(soft, kept):
    pages = []
    for text in ["nonsense", SoftPasskey().sign(b"x" * 32), soft.sign(b"y" * 32)]:
        browser = Browser()
        ask(browser)
        pages.append(main_of(send(browser, text)))
    assert pages == pages[:1] * 3


def test_the_form_and_its_options_need_their_token(person, soft, kept):
    browser = Browser(enforce_csrf_checks=True)
    browser.get("/sign-in")
    assert browser.post(OPTIONS).status_code == 403
    assert send(browser, "{}").status_code == 403
    assert not Challenge.objects.exists()


@pytest.mark.parametrize("path", [OPTIONS, SIGN_IN])
def test_only_a_form_asks(browser, path):
    assert browser.get(path).status_code == 405
    assert not Challenge.objects.exists()


def test_looking_at_the_page_keeps_nothing(browser, kept):
    before = take_snapshot()
    assert browser.get("/sign-in").status_code == 200
    assert take_snapshot() == before
    browser.post(OPTIONS)
    assert not Session.objects.exists()


@pytest.mark.usefixtures("_clock_stands_still")
def test_an_address_can_try_thirty_times_in_five_minutes(browser, soft, kept):
    challenge = ask(browser)
    assert {send(browser, "nonsense").status_code for _ in range(30)} == {422}
    answer = send(browser, soft.sign(challenge))
    assert answer.status_code == 429
    assert "Too many attempts." in main_of(answer)
    assert COOKIE not in browser.cookies
    assert browser.post("/sign-in", {"username": "a@b.example", "password": "x"}).status_code == 429
    elsewhere = Browser(REMOTE_ADDR="192.0.2.1")
    assert send(elsewhere, soft.sign(ask(elsewhere))).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_who_signs_in_uses_up_no_attempts(soft, kept):
    for _ in range(31):
        browser = Browser()
        assert send(browser, soft.sign(ask(browser))).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_an_address_is_given_three_hundred_challenges(browser):
    assert {browser.post(OPTIONS).status_code for _ in range(300)} == {200}
    answer = browser.post(OPTIONS)
    assert answer.status_code == 429
    assert "Too many attempts. Please wait " in orjson.loads(answer.content)["problem"]
    assert int(answer["Retry-After"]) > 0
    assert Challenge.objects.count() == 300
