"""One's own password, and signing out everywhere."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.hashers import check_password
from redis.exceptions import ConnectionError as RedisConnectionError

from agent_access.audit import Actor
from invoicing.administration.sign_ins import change_own_password, sign_out_everywhere
from invoicing.models import User
from invoicing.web.accounts import account
from tests.administration import acting, acts_written, read
from tests.browsers import sign_in_with
from tests.factories import PASSWORD, UserFactory, give_password
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


NEW = "another-long-password"
FORM = {"current": PASSWORD, "password": NEW, "again": NEW}


def test_a_new_password_ends_every_other_session_and_connection(sign_in, person, connect):
    _, agent = connect(person)
    here, elsewhere = sign_in(person), sign_in(person)

    answer = here.post("/account", FORM)

    assert (answer.status_code, answer["Location"]) == (302, "/account?changed")
    assert "Your password is changed" in main_of(here.get("/account?changed"))
    assert elsewhere.get("/account").status_code == 302
    assert agent.call("tools.list").status == 401
    assert check_password(NEW, read(person).password)
    assert acts_written()[-1] == ("person:password_changed", str(person.id), "")


def test_the_session_that_goes_on_has_another_key(sign_in, person):
    browser = sign_in(person)
    before = browser.cookies["__Host-session"].value
    browser.post("/account", FORM)
    assert browser.cookies["__Host-session"].value != before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"current": "wrong-password"}, "This is not your password."),
        ({"again": "something-else"}, "The two passwords differ."),
        ({"password": "short", "again": "short"}, "This password is too short."),
        ({"password": "password1234", "again": "password1234"}, "This password is too common."),
        ({"password": "dana-delegate", "again": "dana-delegate"}, "too similar to the name"),
        ({"password": "", "again": ""}, "This field is required."),
        ({"password": "x" * 1025, "again": "x" * 1025}, "at most 1024 characters"),
        ({"password": "a-long-password\0", "again": "a-long-password\0"}, "Null characters"),
    ],
    ids=range(8),
)
def test_what_is_no_change_changes_nothing(sign_in, person, connect, change, sentence):
    connect(person)
    browser = sign_in(person)
    before, events = take_snapshot(), acts_written()
    answer = browser.post("/account", FORM | change)
    assert answer.status_code == 422
    assert sentence in main_of(answer)
    assert PASSWORD not in answer.content.decode()
    assert (take_snapshot(), acts_written()) == (before, events)


def test_a_double_click_on_signing_out_everywhere_leads_to_the_sign_in_page_twice(
    sign_in, person, monkeypatch
):
    """The first click ends all sessions while the second waits for its lock."""
    browser, act = sign_in(person), sign_out_everywhere

    def act_twice(actor: Actor, pk: UUID) -> int:
        act(actor, pk)
        return act(actor, pk)

    monkeypatch.setattr(account, "sign_out_everywhere", act_twice)
    answer = browser.post("/account/sign-out-everywhere")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in")
    assert read(person).session_revision == 2


@pytest.mark.usefixtures("_clock_stands_still")
def test_guessing_at_an_open_browser_ends_soon(sign_in, person):
    browser = sign_in(person)
    wrong = FORM | {"current": "wrong-password"}
    assert {browser.post("/account", wrong).status_code for _ in range(10)} == {422}
    answer = browser.post("/account", FORM)
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert "Too many attempts" in main_of(answer)
    assert check_password(PASSWORD, read(person).password)


@pytest.mark.usefixtures("_clock_stands_still")
def test_guesses_at_an_open_browser_count_for_its_account_and_no_other(
    sign_in, person, browser, colleague
):
    give_password(colleague)
    guesser = sign_in(person)
    for _ in range(10):
        guesser.post("/account", FORM | {"current": "wrong-password"})
    assert sign_in_with(browser, person.email).status_code == 429
    assert sign_in_with(browser, colleague.email).status_code == 302


def test_uncounted_nobody_changes_a_password(sign_in, person, monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError

    browser = sign_in(person)
    monkeypatch.setattr("invoicing.web.accounts.limits.count", fail)
    answer = browser.post("/account", FORM)
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert check_password(PASSWORD, read(person).password)


def test_a_password_that_was_changed_meanwhile_stays(sign_in, person, monkeypatch):
    browser = sign_in(person)
    validate = "invoicing.administration.sign_ins.validate_password"

    def change_elsewhere(*args: object) -> None:
        User.objects.filter(pk=person.pk).update(password="!elsewhere")

    monkeypatch.setattr(validate, change_elsewhere)
    answer = browser.post("/account", FORM)
    assert answer.status_code == 422
    assert "changed elsewhere at this moment" in main_of(answer)
    assert read(person).password == "!elsewhere"


def test_a_session_that_was_ended_meanwhile_changes_no_password(sign_in, person, monkeypatch):
    browser = sign_in(person)
    validate = "invoicing.administration.sign_ins.validate_password"
    monkeypatch.setattr(validate, lambda *_: sign_out_everywhere(acting(person), person.pk))
    assert browser.post("/account", FORM).status_code == 422
    assert check_password(PASSWORD, read(person).password)
    assert browser.get("/account").status_code == 302


def test_the_session_that_changed_the_password_ends_with_all_that_end_next(
    sign_in, person, monkeypatch
):
    browser = sign_in(person)

    def change_and_be_signed_out(*args: Any, **known: Any) -> User:
        changed = change_own_password(*args, **known)
        sign_out_everywhere(acting(person), person.pk)
        return changed

    monkeypatch.setattr(account, "change_own_password", change_and_be_signed_out)
    assert browser.post("/account", FORM).status_code == 302
    assert browser.get("/account").status_code == 302


def test_signing_out_everywhere_ends_all_and_this(sign_in, person, connect):
    connection, agent = connect(person)
    here, elsewhere = sign_in(person), sign_in(person)
    assert here.get("/account/sign-out-everywhere").status_code == 405
    assert agent.call("tools.list").status == 200

    answer = here.post("/account/sign-out-everywhere")

    assert (answer.status_code, answer["Location"]) == (302, "/sign-in")
    assert [each.get("/account").status_code for each in (here, elsewhere)] == [302, 302]
    assert agent.call("tools.list").status == 401
    connection.refresh_from_db()
    assert connection.revoked_reason == "sessions_ended"


def test_somebody_without_any_permission_has_an_account_too(sign_in):
    person = UserFactory.create(is_guest=True)
    page = text_of(sign_in(person).get("/account"))
    assert person.email in page
    assert '<a class="quiet" href="/account">' in page
