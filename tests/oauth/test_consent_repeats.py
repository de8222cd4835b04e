"""The consent page sent twice, and a client that is forgotten while the owner decides."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent_access.audit import make_origin
from agent_access.connections import Consent
from agent_access.forms import TOO_OLD
from agent_access.models import AuditEvent, Connection, Transport
from agent_access.oauth import authorization, consent, repeats
from agent_access.oauth.authorization import UNKNOWN_CLIENT, AuthorizationRequest
from agent_access.oauth.models import Application, Grant
from agent_access.oauth.retention import SWEEP, forget_unused_clients
from agent_access.oauth.tokens import make_code
from agent_access.switches import turn_access, turn_sign_in
from agent_access.verification import find_breaks
from invoicing.models import User
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import REFUSAL, Browser, answer_of, parameters_of
from tests.threads import Encounter, run_together

ANSWERED = "You already allowed this"


@pytest.fixture
def filled(path, browser, delegate):
    return fill(browser, path, delegate)


@pytest.fixture
def send(path, browser, filled):
    """Return a function that sends the filled form, with other answers if asked."""
    return lambda **change: browser.send(path, filled | change)


def fill(browser, path, delegate):
    """Return the consent form as it was opened, filled in."""
    page = browser.open(path).content.decode()
    [once] = re.findall(r'name="once" value="([^"]+)"', page)
    return answer_of(delegate, days=7) | {"once": once}


def assert_answered(response) -> None:
    assert response.status_code == 409
    assert ANSWERED in response.content.decode()


def test_a_page_sent_twice_makes_one_connection_and_its_last_code_counts(program, send):
    first, last = (parameters_of(send()) for _ in range(2))
    assert {**first, "code": ""} == {**last, "code": ""}
    assert first["code"] != last["code"]
    connection = Connection.objects.get()
    assert program.exchange(first["code"]).body["error"] == "invalid_grant"
    assert program.exchange(last["code"]).status == 200
    assert Connection.objects.get(revoked_at=None) == connection
    made = {"connection:created", "code:renewed"}
    assert AuditEvent.objects.filter(action__in=made).count() == 2
    assert list(find_breaks()) == []


def test_a_page_sent_again_leaves_the_code_of_another_page(path, program, browser, delegate):
    one, other = (fill(browser, path, delegate) for _ in range(2))
    code_of_other = parameters_of(browser.send(path, other))["code"]
    *_, code_of_one = (parameters_of(browser.send(path, one))["code"] for _ in range(2))
    assert program.exchange(code_of_one).status == 200
    assert program.exchange(code_of_other).status == 200
    assert Connection.objects.filter(revoked_at=None).count() == 2


def test_a_page_sent_again_by_another_approver_gives_them_no_code(program, send, delegate):
    code = parameters_of(send())["code"]
    made = Connection.objects.get()
    asked = Consent(
        connection_id=made.pk,
        user=made.user,
        scopes=made.grants,
        days=7,
        name=made.name,
        client_id=made.client_id,
        client_host=made.client_host,
        approver=delegate,
    )
    with nothing_changes(), pytest.raises(repeats.AlreadyAnsweredError):
        repeats.renew_code(asked, origin=make_origin(Transport.WEB))
    assert program.exchange(code).status == 200


def test_the_code_of_a_page_sent_again_lasts_five_minutes_of_its_own(program, send, clock):
    send()
    clock.shift(timedelta(minutes=4))
    last = parameters_of(send())["code"]
    clock.shift(timedelta(minutes=2))
    assert program.exchange(last).status == 200


@pytest.mark.django_db(transaction=True)
def test_a_page_sent_many_times_at_once_makes_one_connection(path, program, owner, filled):
    sends = [lambda: Browser(owner).send(path, filled)] * 4
    codes = [parameters_of(answer)["code"] for answer in run_together(sends)]
    assert Connection.objects.count() == Grant.objects.count() == 1
    assert len(set(codes)) == 4
    assert sorted(program.exchange(code).status for code in codes) == [200, 400, 400, 400]
    assert Connection.objects.get().revoked_at is None


@pytest.mark.django_db(transaction=True)
def test_a_page_sent_again_while_the_client_comes_for_its_tokens_gives_a_code_that_counts(
    path, program, owner, filled, monkeypatch
):
    encounter = Encounter()

    def make_slowly() -> str:
        encounter.wait_here()
        return make_code()

    def send() -> str:
        return parameters_of(Browser(owner).send(path, filled))["code"]

    def exchange() -> str:
        return str(encounter.come(lambda: program.exchange(first)).body["error"])

    first = send()
    monkeypatch.setattr(repeats, "make_code", make_slowly)
    last, error = run_together([send, exchange])
    assert error == "invalid_grant"
    assert program.exchange(last).status == 200


def test_a_page_sent_again_after_the_client_came_for_its_tokens_changes_nothing(program, send):
    code = parameters_of(send())["code"]
    assert program.exchange(code).status == 200
    with nothing_changes():
        assert_answered(send())
        assert_answered(send(**REFUSAL))


def test_another_answer_to_the_same_page_is_not_taken(send, owner, subtests):
    send()
    others: list[dict[str, Any]] = [{"scopes": ["invoices:read"]}, {"expires_in_days": "8"}]
    with nothing_changes():
        for change in (*others, {"acts_as": owner.pk}, REFUSAL):
            with subtests.test(change=str(change)):
                assert_answered(send(**change))


def test_a_page_sent_again_revives_no_connection(program, send):
    code = parameters_of(send())["code"]
    turn_access(on=False)
    turn_access(on=True)
    turn_sign_in(on=True)
    assert_answered(send())
    assert program.exchange(code).body["error"] == "invalid_grant"
    assert Connection.objects.get().revoked_reason == "access_off"


def test_a_page_sent_again_ends_a_connection_whose_person_ended_all_sessions(send, delegate):
    send()
    User.objects.filter(pk=delegate.pk).update(session_revision=delegate.session_revision + 1)
    assert_answered(send())
    assert Connection.objects.get().revoked_reason == "sessions_ended"
    assert AuditEvent.objects.filter(action="connection:revoked").count() == 1


def test_a_page_answers_no_other_request_than_its_own(program, browser, filled):
    path = program.authorize_path(state="another")
    with nothing_changes():
        for once in (filled["once"], "x"):
            answer = browser.send(path, filled | {"once": once})
            assert (answer.status_code, TOO_OLD in answer.content.decode()) == (422, True)


def test_a_client_that_is_forgotten_while_the_owner_decides_is_told(send, monkeypatch):
    read = authorization.read_request

    def read_and_forget(*args: Any, **kwargs: Any) -> AuthorizationRequest:
        asked = read(*args, **kwargs)
        Application.objects.all().delete()
        return asked

    monkeypatch.setattr(consent, "read_request", read_and_forget)
    answer = send()
    assert (answer.status_code, UNKNOWN_CLIENT in answer.content.decode()) == (400, True)
    assert not Connection.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_client_that_is_allowed_just_now_is_not_swept(program, send, monkeypatch):
    Application.objects.update(created=timezone.now() - timedelta(days=31))
    create, encounter = Grant.objects.create, Encounter()

    def create_slowly(**columns: Any) -> Grant:
        encounter.wait_here()
        return create(**columns)

    def sweep() -> int:
        return encounter.come(lambda: forget_unused_clients(SWEEP))

    monkeypatch.setattr(Grant.objects, "create", create_slowly)
    answer, _ = run_together([send, sweep])
    assert program.exchange(parameters_of(answer)["code"]).status == 200
    assert Application.objects.get().client_id == program.client_id
