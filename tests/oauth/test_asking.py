"""A person asks the owner from their own machine; the owner answers on another."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agent_access import waiting
from agent_access.models import AuditEvent, Connection
from agent_access.oauth import asking_pages
from agent_access.oauth.models import AccessRequest, Application, Grant
from agent_access.oauth.retention import SWEEP, forget_unused_clients
from agent_access.switches import turn_access, turn_sign_in
from agent_access.verification import find_breaks
from agent_access.waiting import Question, Told
from invoicing.access import Permission
from invoicing.models import Company, User
from tests.agents import HttpAgent
from tests.factories import UserFactory
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import BASE_URL, Browser, parameters_of
from tests.threads import run_together

READ = ["customers:read", "invoices:read"]
ALLOWED: dict[str, Any] = {"decision": "allowed", "scopes": READ, "expires_in_days": 7}
REFUSED: dict[str, Any] = {"decision": "refused"}
DENIED = {"error": "access_denied", "state": "a state", "iss": BASE_URL}


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", str(response.content, "utf-8"))


@dataclass
class Asking:
    """The browsers of a person who asks, and of the owner, and what a client sent the person to."""

    path: str
    mine: Browser
    owners: Browser

    def ask(self, scopes: Any = READ, days: Any = 7, path: str = "") -> Any:
        fields = {"decision": "ask", "scopes": list(scopes), "expires_in_days": days}
        return self.mine.send(path or self.path, fields)

    def look(self, path: str = "", browser: Browser | None = None) -> Any:
        """Do what the page's script and its button do."""
        return (browser or self.mine).send(path or self.path, {})

    @property
    def page(self) -> str:
        return f"/oauth/requests/{AccessRequest.objects.latest('asked_at').pk}"

    def answer(self, **fields: Any) -> Any:
        return self.owners.send(self.page, ALLOWED | fields)

    def is_waiting(self, browser: Browser | None = None) -> Any:
        return (browser or self.mine).open(f"{self.page}/state").json()


@pytest.fixture
def asking(path: str, delegate: User, browser: Browser) -> Asking:
    return Asking(path, Browser(delegate), browser)


@pytest.fixture
def asked(asking: Asking) -> Asking:
    assert asking.ask().status_code == 302
    return asking


@pytest.fixture
def allowed(asked: Asking) -> Asking:
    assert asked.answer().status_code == 302
    return asked


def assert_no_code(answer: Any, status: int) -> None:
    """The answer leads nowhere, and nothing was made."""
    assert answer.status_code == status
    assert not answer.has_header("Location")
    assert not Connection.objects.exists()
    assert not Grant.objects.exists()


def test_the_person_reads_who_asks_and_chooses_within_their_own_permissions(program):
    reader = Browser(UserFactory.create(permissions=[Permission.VIEW_CUSTOMER]))
    powerless = Browser(UserFactory.create())
    every = program.authorize_path(scope="customers:read invoices:read invoices:execute")
    with nothing_changes():
        response = reader.open(every)
        page = text_of(response)
        assert response.status_code == 200
        assert "<bdi>Ledger agent</bdi>" in page
        assert "<code>https://client.example/callback</code>" in page
        assert re.findall(r'type="checkbox"[^>]*value="([^"]+)"', page) == ["customers:read"]
        none = powerless.open(every)
    assert none.status_code == 403
    assert "You do not have a permission for anything" in text_of(none)


def test_each_reads_the_times_in_their_own_zone(asking, delegate, owner):
    User.objects.filter(pk=delegate.pk).update(time_zone="America/Denver")
    User.objects.filter(pk=owner.pk).update(time_zone="Asia/Tokyo")
    asking.ask()
    assert re.search(
        r"until \d{4}-\d\d-\d\d \d\d:\d\d M[SD]T", text_of(asking.mine.open(asking.path))
    )
    page = text_of(asking.owners.open(asking.page))
    assert page.count(" JST") == 2
    asking.answer()
    assert " JST, for 7 days" in text_of(asking.owners.open(asking.page))


def test_the_owner_allows_elsewhere_and_the_asking_page_goes_on_by_itself(
    asking, program, delegate, owner, customer
):
    told: list[Question] = []

    def hear(sender: Any, question: Question, **_: Any) -> None:
        told.append(question)

    waiting.asked.connect(hear)
    try:
        back = asking.ask()
    finally:
        waiting.asked.disconnect(hear)
    request = AccessRequest.objects.get()
    tag = f"access-request:{request.pk}"
    assert told == [
        Question(
            subject="access_request",
            pk=request.pk,
            person_id=owner.pk,
            connection_id=None,
            tag=tag,
            expires_at=request.expires_at,
        )
    ]
    assert request.expires_at - request.asked_at == timedelta(minutes=15)
    page = asking.mine.open(back["Location"].removeprefix(BASE_URL))
    assert "Waiting for the owner" in text_of(page)
    assert "form-action 'self' https://client.example;" in page["Content-Security-Policy"] + ";"
    assert "Waiting for the owner" in text_of(asking.look())
    assert asking.is_waiting() == {"is_waiting": True}

    [shown] = waiting.subjects["access_request"].find_pending(owner, now=timezone.now())
    assert shown == Told(
        title="Somebody asks for access",
        sentence="Dana Delegate asks you to let a client act for them.",
        details="client.example: Ledger agent",
        path=f"/oauth/requests/{request.pk}",
        expires_at=request.expires_at,
    )
    clients = text_of(asking.owners.open("/admin/agent_oauth/application/"))
    for words in (
        f"<bdi>{shown.sentence}</bdi>",
        f'<a href="{shown.path}"><bdi>{shown.details}</bdi></a>',
    ):
        assert words in clients
    asked = text_of(asking.owners.open(shown.path))
    for words in (delegate.email, "Ledger agent", "https://client.example/callback"):
        assert words in asked
    assert asking.answer(scopes=["customers:read"], expires_in_days=3).status_code == 302
    assert not Connection.objects.exists()
    assert waiting.subjects["access_request"].find_pending(owner, now=timezone.now()) == []
    assert asking.is_waiting() == {"is_waiting": False}

    answer = parameters_of(asking.look())
    assert {**answer, "code": ""} == {"code": "", "state": "a state", "iss": BASE_URL}
    held = Connection.objects.get()
    assert (held.user, held.owner_id, held.grants) == (delegate, owner.pk, ["customers:read"])
    assert held.expires_at - held.created_at == timedelta(days=3)
    assert (held.client_id, held.client_host) == (program.client_id, "client.example")
    agent = HttpAgent(program.exchange(answer["code"]).body["access_token"])
    assert agent.call("customers.search").status == 200
    assert "The client has its connection." in text_of(asking.owners.open(shown.path))

    events = AuditEvent.objects.filter(action__startswith="access_request:").order_by("sequence")
    rows = list(events.values_list("action", "actor_id", "target", "detail", "connection_id"))
    of_request = (program.client_id, str(request.pk))
    assert rows == [
        ("access_request:asked", delegate.pk, *of_request, None),
        ("access_request:allowed", owner.pk, *of_request, None),
        ("access_request:minted", delegate.pk, *of_request, held.pk),
    ]
    assert list(find_breaks()) == []


def test_a_refusal_returns_to_the_client_once_the_owner_has_refused(asked, owner):
    assert asked.answer(**REFUSED).status_code == 302
    assert not Connection.objects.exists()
    assert parameters_of(asked.look()) == DENIED
    event = AuditEvent.objects.latest("occurred_at")
    assert (event.action, event.actor_id) == ("access_request:refused", owner.pk)


@pytest.mark.parametrize(
    "change",
    [
        {"scope": "customers:read"},
        {"state": "another"},
        {"state": None},
        {"redirect_uri": "https://client.example/other"},
        {"code_challenge": "x" * 43},
    ],
    ids=str,
)
def test_the_code_is_for_the_very_request_that_was_asked_for(
    asking, register_program, program, change
):
    program = register_program("https://client.example/callback", "https://client.example/other")
    asking.path = program.authorize_path()
    asking.ask()
    asking.answer()
    assert_no_code(asking.look(program.authorize_path(**change)), 409)
    assert "code" in parameters_of(asking.look())


def test_no_other_client_session_or_person_gets_the_code(
    allowed, register_program, delegate, colleague
):
    other_client = register_program("https://client.example/callback").authorize_path()
    assert_no_code(allowed.look(other_client), 409)
    for person in (delegate, colleague):
        other = Browser(person)
        assert_no_code(allowed.look(browser=other), 409)
        assert other.open(f"{allowed.page}/state").status_code == 404
    assert_no_code(allowed.look(browser=allowed.owners), 422)
    assert Browser().send(allowed.path, {})["Location"].startswith("/sign-in?")
    assert not Connection.objects.exists()


def test_an_unknown_client_or_return_address_is_an_error_page_for_askers_too(asking, program):
    for change in ({"client_id": "nobody"}, {"redirect_uri": "https://evil.example/"}):
        path = program.authorize_path(**change)
        with nothing_changes():
            answers = [asking.mine.open(path), asking.ask(path=path), asking.look(path)]
        assert [answer.status_code for answer in answers] == [400] * 3
        assert not any(answer.has_header("Location") for answer in answers)


WRONG_TERMS: tuple[dict[str, Any], ...] = (
    {"scopes": []},
    {"scopes": ["invoices:prepare"]},
    {"scopes": ["people:read"]},
    {"days": 0},
    {"days": 31},
    {"days": ""},
)


def test_nobody_asks_for_more_than_the_client_does_or_they_may_do(
    asking, program, delegate, subtests
):
    delegate.user_permissions.filter(codename="view_person").delete()
    asking.path = program.authorize_path(scope="customers:read people:read")
    with nothing_changes():
        for terms in WRONG_TERMS:
            with subtests.test(terms=str(terms)):
                asked = asking.ask(**{"scopes": ["customers:read"], **terms})
                assert (asked.status_code, "Ask the owner" in text_of(asked)) == (422, True)


def test_the_owner_allows_no_more_than_was_asked_and_only_on_purpose(asking, subtests):
    asking.ask(["customers:read"], 7)
    wrong: tuple[dict[str, Any], ...] = (
        {"scopes": ["customers:read", "invoices:read"]},
        {"scopes": []},
        {"expires_in_days": 8},
        {"decision": "withdrawn"},
        {"decision": ""},
    )
    with nothing_changes():
        for change in wrong:
            with subtests.test(change=str(change)):
                answer = asking.answer(**{"scopes": ["customers:read"], **change})
                assert answer.status_code == 422
        assert asking.owners.open(asking.page).status_code == 200


def test_only_the_owner_opens_or_answers_a_request(asked, colleague, delegate):
    for person in (delegate, colleague):
        other = Browser(person)
        with nothing_changes():
            assert other.open(asked.page).status_code == 404
            assert other.send(asked.page, ALLOWED).status_code == 404
    assert Browser().open(asked.page)["Location"].startswith("/sign-in?")
    subject, now = waiting.subjects["access_request"], timezone.now()
    pk = AccessRequest.objects.get().pk
    assert subject.tell(pk, colleague, now=now) is None
    assert list(subject.find_pending(delegate, now=now)) == []


def test_forged_forms_neither_ask_answer_nor_fetch(asked):
    for browser in (asked.mine, asked.owners):
        browser.client.handler.enforce_csrf_checks = True
    with nothing_changes():
        assert asked.ask().status_code == 403
        assert asked.answer().status_code == 403
        assert asked.look().status_code == 403


def hand_over(delegate: User, owner: User) -> None:
    Company.objects.update(owner=UserFactory.create())


def make_guest(delegate: User, owner: User) -> None:
    User.objects.filter(pk=delegate.pk).update(is_guest=True)


def end_owners_sessions(delegate: User, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(session_revision=owner.session_revision + 1)


def switch_sign_in_off(delegate: User, owner: User) -> None:
    turn_sign_in(on=False)


def switch_access_off(delegate: User, owner: User) -> None:
    turn_access(on=False)


def delete_client(delegate: User, owner: User) -> None:
    Application.objects.all().delete()


def change_addresses(delegate: User, owner: User) -> None:
    Application.objects.update(redirect_uris="https://client.example/new")


Change = Callable[[User, User], None]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (hand_over, 404),
        (make_guest, 404),
        (switch_sign_in_off, 404),
        (switch_access_off, 404),
        (delete_client, 404),
        (change_addresses, 422),
    ],
)
def test_what_changed_since_the_question_keeps_the_owner_from_allowing(
    asked, delegate, owner, change: Change, status
):
    page = asked.page
    change(delegate, owner)
    with nothing_changes():
        assert asked.owners.send(page, ALLOWED).status_code == status
    assert not AccessRequest.objects.filter(decision="allowed").exists()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (hand_over, 409),
        (end_owners_sessions, 409),
        (make_guest, 302),
        (switch_sign_in_off, 404),
        (switch_access_off, 404),
        (delete_client, 400),
        (change_addresses, 400),
    ],
)
def test_what_changed_since_the_answer_keeps_the_asker_from_the_code(
    allowed, delegate, owner, change: Change, status
):
    change(delegate, owner)
    with nothing_changes(but="sessions.Session"):
        answer = allowed.look()
    assert answer.status_code == status
    # Their sessions have ended with what they were.
    assert answer.headers.get("Location", "/sign-in?").startswith("/sign-in?")
    assert not Connection.objects.exists()


def test_switches_that_meet_the_answer_or_the_code_are_seen_under_the_lock(asked, monkeypatch):
    monkeypatch.setattr("agent_access.oauth.pages.is_sign_in_on", lambda: True)
    turn_sign_in(on=False)
    with nothing_changes():
        assert asked.answer().status_code == 422
    turn_sign_in(on=True)
    asked.answer()
    turn_access(on=False)
    with nothing_changes():
        assert_no_code(asked.look(), 409)


def test_somebody_who_lost_a_right_to_answer_at_the_last_moment_decides_nothing(asked, monkeypatch):
    monkeypatch.setattr(asking_pages, "may_approve", lambda _: True)
    monkeypatch.setattr(asking_pages, "asked_of", lambda _: AccessRequest.objects.all())
    Company.objects.update(owner=UserFactory.create())
    with nothing_changes():
        assert asked.answer().status_code == 422
        assert asked.answer(**REFUSED).status_code == 422


def test_fifteen_minutes_to_answer_and_not_one_moment_more(asking, clock):
    asking.ask()
    clock.shift(timedelta(minutes=15))
    with nothing_changes():
        assert asking.answer().status_code == 409
        assert asking.answer(**REFUSED).status_code == 409
        assert_no_code(asking.look(), 409)
    assert asking.is_waiting() == {"is_waiting": False}
    assert asking.ask().status_code == 302
    clock.shift(timedelta(minutes=15) - timedelta(microseconds=1))
    assert asking.answer().status_code == 302


def test_five_minutes_for_the_code_counted_from_the_answer(asking, program, clock):
    asking.ask()
    asking.answer()
    clock.shift(timedelta(minutes=4))
    code = parameters_of(asking.look())["code"]
    clock.shift(timedelta(minutes=1))
    assert program.exchange(code).body["error"] == "invalid_grant"

    asking.path = program.authorize_path(state="later")
    asking.ask()
    asking.answer()
    clock.shift(timedelta(minutes=5))
    with nothing_changes():
        answer = asking.look()
    assert (answer.status_code, answer.has_header("Location")) == (409, False)


def test_a_request_is_answered_once(asked):
    asked.answer(**REFUSED)
    with nothing_changes():
        assert asked.answer().status_code == 409
        assert asked.answer(**REFUSED).status_code == 302  # a double click
        assert parameters_of(asked.look()) == DENIED


@pytest.mark.parametrize("act", ["allow", "refuse"])
def test_an_answer_beside_the_deletion_of_the_client_finds_no_request(asked, monkeypatch, act):
    page, answer = asked.page, getattr(asking_pages, act)

    def answer_late(*args: Any, **terms: Any) -> None:
        Application.objects.all().delete()  # in another tab, for whose lock this one waited
        answer(*args, **terms)

    monkeypatch.setattr(asking_pages, act, answer_late)
    said = ALLOWED if act == "allow" else REFUSED
    assert asked.owners.send(page, said).status_code == 404


def test_a_code_is_fetched_once(allowed, program):
    code = parameters_of(allowed.look())["code"]
    with nothing_changes():
        again = allowed.look()
        assert (again.status_code, again.has_header("Location")) == (200, False)
        assert "You have been sent back to the client" in text_of(again)
        assert allowed.answer(expires_in_days=1).status_code == 302
    assert program.exchange(code).status == 200
    assert Connection.objects.get().revoked_at is None


def test_asking_again_withdraws_what_was_open_for_this_client(asked, program, colleague):
    first, page = asked.path, asked.page
    asked.path = program.authorize_path(state="another")
    asked.ask()
    with nothing_changes():
        assert asked.owners.send(page, ALLOWED).status_code == 409
        assert_no_code(asked.look(first), 409)
    asked.answer()
    assert parameters_of(asked.look())["state"] == "another"
    with nothing_changes():
        assert asked.ask().status_code == 200  # the same once more: it is answered


def test_the_same_question_sent_again_is_one_question(asked):
    with nothing_changes():
        assert "Waiting for the owner" in text_of(asked.ask())
    assert AccessRequest.objects.count() == 1


def test_three_questions_an_hour(asking, program, register_program, clock):
    others = [register_program() for _ in range(2)]
    paths = [asking.path, *(each.authorize_path() for each in others)]
    assert [asking.ask(path=path).status_code for path in paths] == [302, 302, 302]
    path = program.authorize_path(state="one more")
    clock.shift(timedelta(hours=1) - timedelta(microseconds=1))
    with nothing_changes():
        refused = asking.ask(path=path)
    assert refused.status_code == 429
    assert "You can ask the owner three times an hour." in text_of(refused)
    clock.shift(timedelta(microseconds=1))
    assert asking.ask(path=path).status_code == 302


def test_what_was_asked_is_forgotten_after_a_week_and_its_client_not_before(clock, asked):
    Application.objects.update(created=timezone.now() - timedelta(days=31))
    told = StringIO()
    assert forget_unused_clients(SWEEP) == 0
    clock.shift(timedelta(days=7))
    call_command("forget_old_tokens")
    assert AccessRequest.objects.count() == 1
    clock.shift(timedelta(microseconds=1))
    call_command("forget_old_tokens", stdout=told)
    assert "access requests 1, clients 1" in told.getvalue()


@pytest.mark.django_db(transaction=True)
def test_of_many_polls_at_once_one_gets_a_code(allowed, program):
    cookies = allowed.mine.client.cookies

    def poll() -> Any:
        browser = Browser()
        browser.client.cookies = cookies
        return allowed.look(browser=browser)

    codes = [
        parameters_of(each)["code"] for each in run_together([poll] * 4) if each.status_code == 302
    ]
    assert len(codes) == Grant.objects.count() == Connection.objects.count() == 1
    assert program.exchange(codes[0]).status == 200
    assert list(find_breaks()) == []


@pytest.mark.django_db(transaction=True)
def test_of_many_answers_at_once_one_counts(asked, owner):
    answers = [ALLOWED, REFUSED, ALLOWED, REFUSED]
    sends = [partial(Browser(owner).send, asked.page, answer) for answer in answers]
    statuses = sorted(each.status_code for each in run_together(sends))
    assert statuses == [302, 302, 409, 409]
    assert AuditEvent.objects.filter(action__startswith="access_request:").count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_many_questions_at_once_one_stays_open(asking, program, delegate):
    paths = [program.authorize_path(state=str(number)) for number in range(4)]
    asks = [partial(Asking(path, Browser(delegate), asking.owners).ask) for path in paths]
    statuses = sorted(each.status_code for each in run_together(asks))
    assert statuses == [302, 302, 302, 429]
    assert AccessRequest.objects.filter(decision="").count() == 1
