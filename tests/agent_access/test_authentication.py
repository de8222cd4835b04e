"""Who calls: the credential of one header, and what ends it."""

from collections.abc import Callable

import pytest

from agent_access.connections import revoke_connection
from agent_access.credentials import digest_credential, make_credential
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import ADMINISTRATION
from agent_access.models.connections import RevokedReason
from invoicing.models import Company
from tests.agents import HttpAgent
from tests.factories import UserFactory


def send(authorization):
    return HttpAgent(None).request("GET", "/api/v1/tools", HTTP_AUTHORIZATION=authorization)


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "bEaReR   "])
def test_the_scheme_is_read_in_any_case_and_with_any_number_of_spaces(agent, scheme):
    assert send(scheme + agent.credential).status == 200


BENDS: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "swapped case": str.swapcase,
    "one character short": lambda credential: credential[:-1],
    "one character more": lambda credential: credential + "A",
    "without its prefix": lambda credential: credential.removeprefix("ivc_"),
    "with another prefix": lambda credential: "iva_" + credential.removeprefix("ivc_"),
    "its digest": digest_credential,
    "a letter beyond ASCII": lambda credential: credential[:-1] + "\u0130",
    "another credential": lambda _credential: make_credential(),
    "very long": lambda credential: credential + "A" * 100_000,
}


@pytest.mark.parametrize("bend", BENDS)
def test_only_the_exact_credential_opens(agent, bend):
    answer = send(f"Bearer {BENDS[bend](agent.credential)}")
    assert (answer.status, answer.code) == (401, "unauthenticated")


def test_a_lookalike_header_does_not_authenticate(agent):
    headers = {
        "X-Authorization": f"Bearer {agent.credential}",
        "Proxy-Authorization": f"Bearer {agent.credential}",
    }
    assert HttpAgent(None).request("GET", "/api/v1/tools", headers=headers).status == 401


def deactivate(delegate, settings):
    delegate.is_active = False
    delegate.save()


def make_guest(delegate, settings):
    delegate.is_guest = True
    delegate.save()


def sign_out_everywhere(delegate, settings):
    delegate.session_revision += 1
    delegate.save()


def change_owner(delegate, settings):
    Company.objects.update(owner=delegate)


def change_address(delegate, settings):
    settings.AGENT_ACCESS |= {"BASE_URL": "https://invoices.example:444"}


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (deactivate, "user_deactivated"),
        (make_guest, "user_became_guest"),
        (sign_out_everywhere, "sessions_ended"),
        (change_owner, "owner_changed"),
        (change_address, "application_url_changed"),
    ],
)
def test_what_ends_a_connection_is_written_down(agent, connection, delegate, settings, end, reason):
    end(delegate, settings)
    host = settings.AGENT_ACCESS["BASE_URL"].removeprefix("https://")

    answers = [agent.request("GET", "/api/v1/tools", headers={"Host": host}) for _ in range(2)]

    assert [answer.status for answer in answers] == [401, 401]
    connection.refresh_from_db()
    assert connection.revoked_reason == reason
    events = AuditEvent.objects.filter(chain=ADMINISTRATION, action="connection:revoked")
    assert [
        (event.connection_id, event.target, event.detail, event.outcome, event.actor_id)
        for event in events
    ] == [(connection.id, str(connection.id), reason, "ok", None)]
    assert [(event.transport, event.client_address) for event in events] == [("http", "127.0.0.1")]
    assert events[0].request_id == answers[0].headers["X-Request-Id"]


def test_a_change_of_another_user_ends_nothing(agent, colleague):
    deactivate(colleague, None)
    UserFactory.create(is_guest=True)
    assert agent.call("tools.list").status == 200


def test_a_refusal_before_authentication_is_no_event_of_the_connection(agent, connection):
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    agent.call("tools.list")
    assert not AuditEvent.objects.filter(chain=str(connection.id)).exists()


def test_only_a_digest_of_the_credential_is_kept(agent, connection):
    stored = Connection.objects.get(pk=connection.pk)
    assert stored.credential_digest == digest_credential(agent.credential)
    assert len(stored.credential_digest) == 64
