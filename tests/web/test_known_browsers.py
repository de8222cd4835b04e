"""A person signs in where they did before, however often others guess their password elsewhere."""

from collections.abc import Callable
from datetime import timedelta
from http.cookies import Morsel

import pytest
from django.contrib.auth.hashers import make_password
from django.core.signing import TimestampSigner
from django.test import Client, RequestFactory
from django.utils import timezone

from invoicing.administration.sign_ins import make_code, sign_out_everywhere
from invoicing.models import Company, User
from invoicing.web.accounts.devices import AGE_SECONDS, COOKIE, find_device
from tests.administration import acting, read
from tests.browsers import Browser, sign_in_with
from tests.factories import PASSWORD, UserFactory, give_password

# What is counted is in the cache, and the same whatever the database.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("_clock_stands_still")]

NEW = "another-long-password"


def cookie_of(browser: Client) -> Morsel[str]:
    return browser.cookies[COOKIE]


def browser_with(value: str, address: str = "198.51.100.7") -> Browser:
    known = Browser(REMOTE_ADDR=address)
    known.cookies[COOKIE] = value
    return known


@pytest.fixture
def known(browser, person):
    """The browser in which the person has signed in, and out."""
    assert sign_in_with(browser, person.email).status_code == 302
    browser.post("/sign-out")
    return browser


@pytest.fixture
def besieged(_clock_stands_still, person) -> Callable[[], None]:
    """Return how ten addresses use up what unknown browsers may try for the person."""

    def besiege() -> None:
        for attempt in range(100):
            guesser = Browser(REMOTE_ADDR=f"192.0.2.{attempt % 10}")
            assert sign_in_with(guesser, person.email, "").status_code == 422
        assert sign_in_with(Browser(REMOTE_ADDR="192.0.2.99"), person.email).status_code == 429

    return besiege


def test_ten_addresses_do_not_keep_a_person_out_of_a_browser_of_theirs(known, person, besieged):
    besieged()
    assert sign_in_with(known, person.email, "a slip").status_code == 422
    assert sign_in_with(known, person.email.upper()).status_code == 302
    assert sign_in_with(Browser(), person.email).status_code == 429


def test_nor_does_who_shares_their_address(known, person, besieged):
    for _ in range(10):
        sign_in_with(Browser(), person.email, "wrong")
    assert sign_in_with(Browser(), person.email).status_code == 429
    assert sign_in_with(known, person.email).status_code == 302


def test_the_owner_transfers_and_changes_a_password_under_siege(known, person, besieged):
    Company.objects.update(owner=person)
    sign_in_with(known, person.email)
    besieged()
    wrong = {"successor": "", "email": "", "own_password": "wrong"}
    transfer = known.post("/admin/invoices/company/transfer", wrong)
    assert transfer.status_code == 422
    fields = {"current": PASSWORD, "password": NEW, "again": NEW}
    assert known.post("/account", fields).status_code == 302
    known.post("/sign-out")
    assert sign_in_with(known, person.email, NEW).status_code == 302


def test_the_cookie_is_closed_to_scripts_and_names_nobody(known, person):
    cookie = cookie_of(known)
    kept = {name: value for name, value in cookie.items() if value and name != "expires"}
    assert kept == {
        "httponly": True,
        "secure": True,
        "samesite": "Lax",
        "path": "/",
        "max-age": AGE_SECONDS,
    }
    assert str(person.pk) not in cookie.value
    assert person.email not in cookie.value


def test_the_cookie_alone_opens_nothing(known, person):
    assert browser_with(cookie_of(known).value).get("/account").status_code == 302


def test_each_sign_in_makes_another_cookie(known, person):
    first = cookie_of(known).value
    sign_in_with(known, person.email)
    assert cookie_of(known).value != first


def test_no_refusal_makes_a_cookie(browser, person):
    for account, password in [(person.email, "wrong"), ("nobody@x.example", "wrong"), ("", "")]:
        sign_in_with(browser, account, password)
    assert COOKIE not in browser.cookies


def test_a_stolen_cookie_is_good_for_ten_guesses(known, person, besieged):
    besieged()
    thief = browser_with(cookie_of(known).value)
    statuses = [sign_in_with(thief, person.email, "wrong").status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]


def test_over_its_limit_a_known_browser_counts_like_any_other(known, person):
    statuses = [sign_in_with(known, person.email, "wrong").status_code for _ in range(21)]
    assert statuses == [422] * 20 + [429]
    elsewhere = browser_with(cookie_of(known).value)
    assert sign_in_with(elsewhere, person.email).status_code == 302


def test_a_right_password_gives_the_attempt_of_a_known_browser_back(known, person, besieged):
    besieged()
    value = cookie_of(known).value
    for attempt in range(12):
        browser = browser_with(value, f"198.51.100.{attempt}")
        assert sign_in_with(browser, person.email).status_code == 302


def test_an_address_counts_whatever_cookies_it_has(known, person):
    for attempt in range(30):
        sign_in_with(known, f"{attempt}@x.example", "")
    assert sign_in_with(known, person.email).status_code == 429


def is_unknown(value: str, person: User, password: str = PASSWORD) -> bool:
    return bool(sign_in_with(browser_with(value), person.email, password).status_code == 429)


def test_a_cookie_of_somebody_else_is_none(known, person, besieged):
    other = UserFactory.create(password=make_password(PASSWORD))
    browser = Browser(REMOTE_ADDR="198.51.100.8")
    assert sign_in_with(browser, other.email).status_code == 302
    besieged()
    assert is_unknown(cookie_of(browser).value, person)
    assert not is_unknown(cookie_of(known).value, person)


def forge(value: str, person: User) -> list[str]:
    nonce, made_at, signature = value.split(":")
    salt = f"{COOKIE}invoicing.device {person.pk} {person.session_revision}"
    own = TimestampSigner(key="a key of the attacker's own", salt=salt)
    salted = TimestampSigner(salt="another.purpose")
    return [
        "",
        ":",
        "x",
        nonce,
        f"{nonce}:{made_at}",
        f"{nonce}:{made_at}:",
        f"{nonce}x:{made_at}:{signature}",
        f"{nonce}:{made_at}0:{signature}",
        f"{nonce}:{made_at}:{signature[::-1]}",
        own.sign(nonce),
        salted.sign(nonce),
        "\xff:\xff:\xff",
        "x" * 4000,
    ]


def test_a_forged_cookie_is_none(known, person, besieged, subtests):
    besieged()
    for number, value in enumerate(forge(cookie_of(known).value, person)):
        with subtests.test(value=value[:60]):
            browser = browser_with(value, f"198.51.100.{number}")
            assert sign_in_with(browser, person.email).status_code == 429


def change_password(person: User) -> None:
    person.set_password(NEW)
    person.save()


def sign_out(person: User) -> None:
    sign_out_everywhere(acting(read(person)), person.pk)


@pytest.mark.parametrize(("act", "password"), [(change_password, NEW), (sign_out, PASSWORD)])
def test_what_ends_sessions_ends_the_cookie(known, person, besieged, act, password):
    act(person)
    besieged()
    assert is_unknown(cookie_of(known).value, person, password)


def test_after_half_a_year_a_browser_is_unknown(known, person, time_machine):
    request = RequestFactory().get("/sign-in")
    request.COOKIES[COOKIE] = cookie_of(known).value
    made_at = timezone.now()
    time_machine.move_to(made_at + timedelta(seconds=AGE_SECONDS - 60))
    assert find_device(request, person.email)
    time_machine.move_to(made_at + timedelta(seconds=AGE_SECONDS + 60))
    assert find_device(request, person.email) == ""


def test_a_cookie_outlives_the_key_while_it_is_a_fallback(known, person, besieged, settings):
    value = cookie_of(known).value
    besieged()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-fifty-characters-at-the-least"
    assert not is_unknown(value, person)
    settings.SECRET_KEY_FALLBACKS = []
    assert is_unknown(value, person)


def test_a_one_time_code_lets_a_besieged_person_in(person, owner, besieged):
    browser = Browser(REMOTE_ADDR="198.51.100.9")
    code = make_code(acting(owner), person.pk)
    besieged()
    fields = {"code": code, "password": NEW, "again": NEW}
    assert browser.post("/set-password", fields).status_code == 302
    browser.cookies.pop("__Host-session")
    assert sign_in_with(browser, person.email, NEW).status_code == 302


def test_with_a_cookie_an_account_there_is_and_none_get_the_same_answers(known):
    other = UserFactory.create()
    give_password(other)
    answers = [
        [sign_in_with(known, account, "wrong").status_code for _ in range(11)]
        for account in (other.email, "nobody@halden.example")
    ]
    assert answers == [[422] * 10 + [429]] * 2
