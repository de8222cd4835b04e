"""Who may call: one live credential in one header, and nothing else."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from agent_access.connections import revoke_connection
from agent_access.models import Connection
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access
from invoicing.models import Company, User
from tests.agents import BAD_CREDENTIAL, CHALLENGE, HttpAgent
from tests.interface.http_requests import send
from tests.interface.refusals import audit_of, nothing_changes, refusal, request_id_of, seen

pytestmark = pytest.mark.http


def refuse_all(calls, agent, challenge, **changes: Any):
    """Send every call; each must be refused with this challenge."""
    for call in calls.values():
        answer = send(call, agent, **changes)
        assert seen(answer) == refusal("unauthenticated"), call.tool
        assert answer.headers["WWW-Authenticate"] == challenge
        assert answer.headers["Cache-Control"] == "no-store"
        request_id_of(answer)


@pytest.mark.requirement("authentication.credential", "error.unauthenticated")
def test_without_a_credential_nothing_answers(access_on, calls):
    with nothing_changes():
        refuse_all(calls, HttpAgent(None), CHALLENGE)


OTHER_SCHEMES = ("", "{}", " Bearer {}", "Basic {}", "Token {}", "ivc_{}", "Digest username=bearer")

MALFORMED = (
    "Bearer",
    "Bearer ",
    "Bearer{}",
    "Bearer:{}",
    "Bearer {} ",
    "Bearer {}\n",
    "Bearer {} {}",
    "Bearer {},{}",
    "Bearer, Bearer {}",
    "Bearer =?utf-8?q?{}?=",
    "Bearer {}, Bearer {}",
    "Bearer {}x",
    "Bearer x{}",
    'Bearer "{}"',
    "Bearer\t{}",
    "Bearer ivc_",
    "Bearer ivc_" + "A" * 43,
    "Bearer iva_" + "A" * 43,
    "Bearer ivr_" + "A" * 43,
    "Bearer é{}",
    "Bearer {}é",
)


# RFC 6750 section 3.1: who tried another scheme is told of no error.
@pytest.mark.parametrize(
    ("forms", "challenge"), [(MALFORMED, BAD_CREDENTIAL), (OTHER_SCHEMES, CHALLENGE)]
)
def test_a_malformed_credential_is_no_credential(agent, connection, calls, forms, challenge):
    one = {"drafts.create": calls["drafts.create"]}
    with nothing_changes():
        for form in forms:
            header = form.replace("{}", agent.credential)
            refuse_all(one, HttpAgent(None), challenge, headers={"Authorization": header})
    assert audit_of(connection) == []


@pytest.mark.requirement("authentication.header_only")
def test_a_cookie_never_authenticates(agent, calls):
    names = ("credential", "access_token", "Authorization", "token", "sessionid")
    cookie = "; ".join(f"{name}={agent.credential}" for name in names)
    with nothing_changes():
        refuse_all(calls, HttpAgent(None), CHALLENGE, HTTP_COOKIE=cookie)


@pytest.mark.requirement("authentication.header_only")
def test_a_url_parameter_never_authenticates(agent, calls):
    names = ("credential", "access_token", "Authorization", "token")
    query = "&".join(f"{name}={agent.credential}" for name in names)
    with nothing_changes():
        refuse_all(calls, HttpAgent(None), CHALLENGE, query=query)


def test_a_body_never_authenticates(agent, calls):
    credential = agent.credential.encode()
    bodies = {
        "application/json": b'{"access_token":"%b"}' % credential,
        "application/x-www-form-urlencoded": b"access_token=" + credential,
    }
    with nothing_changes():
        for content_type, body in bodies.items():
            changes = {"body": body, "content_type": content_type}
            refuse_all(calls, HttpAgent(None), CHALLENGE, **changes)


def end_by_the_owner(connection, settings):
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)


def end_by_deactivation(connection, settings):
    User.objects.filter(pk=connection.user_id).update(is_active=False)


def end_by_making_a_guest(connection, settings):
    User.objects.filter(pk=connection.user_id).update(is_guest=True)


def end_with_the_sessions(connection, settings):
    User.objects.filter(pk=connection.user_id).update(session_revision=2)


def end_with_the_ownership(connection, settings):
    Company.objects.update(owner=connection.user)


def end_by_another_url(connection, settings):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "BASE_URL": "https://moved.example"}


def end_with_access(connection, settings):
    turn_access(on=False)
    turn_access(on=True)


ENDINGS = {
    RevokedReason.OWNER_REVOKED: end_by_the_owner,
    RevokedReason.USER_DEACTIVATED: end_by_deactivation,
    RevokedReason.USER_BECAME_GUEST: end_by_making_a_guest,
    RevokedReason.SESSIONS_ENDED: end_with_the_sessions,
    RevokedReason.OWNER_CHANGED: end_with_the_ownership,
    RevokedReason.APPLICATION_URL_CHANGED: end_by_another_url,
    RevokedReason.ACCESS_OFF: end_with_access,
}


@pytest.mark.requirement(
    "authentication.refused", "revocation.other_endings", "revocation.stops_calls"
)
@pytest.mark.parametrize("reason", ENDINGS)
def test_an_ended_connection_is_refused_and_its_reason_written_down(
    agent, connection, calls, settings, reason
):
    ENDINGS[reason](connection, settings)
    moved = reason is RevokedReason.APPLICATION_URL_CHANGED
    changes = {"headers": {"Host": "moved.example"}} if moved else {}

    with nothing_changes(but="agent_access.Connection"):
        refuse_all(calls, agent, BAD_CREDENTIAL, **changes)

    connection.refresh_from_db()
    assert connection.revoked_reason == reason
    assert connection.revoked_at is not None
    assert audit_of(connection) == []


@pytest.mark.parametrize(
    "reason", sorted(ENDINGS.keys() - {RevokedReason.OWNER_REVOKED, RevokedReason.ACCESS_OFF})
)
def test_what_ended_a_connection_is_not_undone(agent, connection, owner, settings, reason):
    ENDINGS[reason](connection, settings)
    host = settings.AGENT_ACCESS["BASE_URL"].removeprefix("https://")
    assert agent.request("GET", "/api/v1/tools", headers={"Host": host}).status == 401

    User.objects.update(is_active=True, is_guest=False, session_revision=1)
    Company.objects.update(owner=owner)
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "BASE_URL": "https://invoices.example"}

    assert seen(agent.call("tools.list")) == refusal("unauthenticated")


@pytest.mark.requirement("connection.credential")
def test_a_connection_works_until_the_very_end_of_its_days(connect, delegate, calls):
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        connection, agent = connect(delegate, days=1)
        clock.shift(timedelta(days=1, microseconds=-1))
        assert agent.call("tools.list").status == 200
        clock.shift(timedelta(microseconds=1))
        with nothing_changes():
            refuse_all(calls, agent, BAD_CREDENTIAL)
    connection.refresh_from_db()
    assert (connection.revoked_at, connection.revoked_reason) == (None, "")


def test_ending_one_connection_leaves_the_others(connect, delegate):
    ended, first = connect(delegate)
    _, second = connect(delegate)
    revoke_connection(ended.id, reason=RevokedReason.OWNER_REVOKED)
    assert (first.call("tools.list").status, second.call("tools.list").status) == (401, 200)
    assert Connection.objects.exclude(revoked_at=None).count() == 1
