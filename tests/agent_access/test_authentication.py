"""Who calls: the credential of one header, and what ends it."""

from collections.abc import Callable

import pytest

from agent_access.credentials import digest_credential
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import ADMINISTRATION
from invoicing.models import User
from tests.agents import HttpAgent


def send(authorization):
    return HttpAgent(None).request("GET", "/api/v1/tools", HTTP_AUTHORIZATION=authorization)


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "bEaReR   "])
def test_the_scheme_is_read_in_any_case_and_with_any_number_of_spaces(agent, scheme):
    assert send(scheme + agent.credential).status == 200


BENDS: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "one character short": lambda credential: credential[:-1],
    "without its prefix": lambda credential: credential.removeprefix("ivc_"),
    "with another prefix": lambda credential: "iva_" + credential.removeprefix("ivc_"),
    "its digest": digest_credential,
    "a letter beyond ASCII": lambda credential: credential[:-1] + "\u0130",
    "very long": lambda credential: credential + "A" * 100_000,
}


@pytest.mark.parametrize("bend", BENDS)
def test_only_the_exact_credential_opens(agent, bend):
    answer = send(f"Bearer {BENDS[bend](agent.credential)}")
    assert (answer.status, answer.code) == (401, "unauthenticated")


def deactivate(person: User) -> None:
    User.objects.filter(pk=person.pk).update(is_active=False)


def test_what_ends_a_connection_is_written_down_once(agent, connection, delegate):
    """test_revocation_matrix.py has every reason."""
    deactivate(delegate)
    refused, _ = (agent.call("tools.list") for _ in range(2))
    event = AuditEvent.objects.get(chain=ADMINISTRATION, action="connection:revoked")
    assert (event.connection_id, event.target) == (connection.id, str(connection.id))
    assert (event.detail, event.outcome, event.actor_id) == ("user_deactivated", "ok", None)
    assert (event.transport, event.client_address) == ("http", "127.0.0.1")
    assert event.request_id == refused.headers["X-Request-Id"]


def test_a_change_of_another_user_ends_nothing(agent, colleague):
    deactivate(colleague)
    assert agent.call("tools.list").status == 200


def test_only_a_digest_of_the_credential_is_kept(agent, connection):
    stored = Connection.objects.get(pk=connection.pk)
    assert stored.credential_digest == digest_credential(agent.credential)
    assert len(stored.credential_digest) == 64
