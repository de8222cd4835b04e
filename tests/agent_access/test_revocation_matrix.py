"""Every reason for which a connection ends, for both kinds of connection, over both transports."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest
from django.core.management import call_command

from agent_access.connections import ConnectionNotAllowedError, ended_connections
from agent_access.models import AuditEvent, Connection
from agent_access.models.connections import ConnectionKind, RevokedReason
from agent_access.switches import turn_access, turn_sign_in
from agent_access.verification import find_breaks
from invoicing.administration.ownership import transfer_ownership_as_operator
from invoicing.administration.people import change_person, digest_person
from invoicing.administration.sign_ins import sign_out_everywhere
from invoicing.models import User
from tests.administration import acting
from tests.agents import HOST, Answer, HttpAgent
from tests.interface import issuing
from tests.mcp_agent import McpAgent
from tests.oauth.programs import RETURN_ADDRESS, Browser, Program, make_program, parameters_of
from tests.snapshots import take_snapshot
from tests.tool_table import SCOPES

OTHER_HOST = "moved.example"

# What remains of a connection's work, beside its own row and its chain.
EVIDENCE = (
    "agent_access.Receipt",
    "invoices.Document",
    "agent_approvals.ApprovalRequest",
    "invoices.Line",
    "invoices.NumberSeries",
    "invoices.TaxRow",
)


@dataclass
class Held:
    """A connection with all that its program holds, and the people around it."""

    owner: User
    delegate: User
    successor: User
    settings: Any
    secrets: list[str]
    id: Any = None
    program: Program = field(default_factory=Program)
    code: str = ""
    refresh_token: str = ""

    def change_delegate(self, **flags: bool) -> None:
        owner = User.objects.get(pk=self.owner.pk)
        person = User.objects.get(pk=self.delegate.pk)
        change_person(acting(owner), person.pk, flags, seen=digest_person(person))

    def move_to(self, host: str) -> None:
        moved = {"BASE_URL": f"https://{host}"}
        self.settings.AGENT_ACCESS = {**self.settings.AGENT_ACCESS, **moved}


def use_the_code_again(held: Held) -> None:
    assert held.program.exchange(held.code).body["error"] == "invalid_grant"


def use_a_rotated_token(held: Held) -> None:
    rotated = held.program.refresh(held.refresh_token)
    held.secrets += [rotated.body["access_token"]]
    assert held.program.refresh(held.refresh_token).body["error"] == "invalid_grant"


ENDINGS: dict[RevokedReason, Callable[[Held], object]] = {
    RevokedReason.OWNER_REVOKED: lambda held: call_command("revoke_connection", str(held.id)),
    # While access is off nothing answers at all (404); the reason shows when it is on again.
    RevokedReason.ACCESS_OFF: lambda _: (turn_access(on=False), turn_access(on=True)),
    RevokedReason.BROWSER_SIGN_IN_OFF: lambda _: turn_sign_in(on=False),
    RevokedReason.SESSIONS_ENDED: lambda held: sign_out_everywhere(
        acting(held.delegate), held.delegate.pk
    ),
    RevokedReason.USER_DEACTIVATED: lambda held: held.change_delegate(is_active=False),
    RevokedReason.USER_BECAME_GUEST: lambda held: held.change_delegate(is_guest=True),
    RevokedReason.OWNER_CHANGED: lambda held: transfer_ownership_as_operator(held.successor.pk),
    RevokedReason.APPLICATION_URL_CHANGED: lambda held: held.move_to(OTHER_HOST),
    RevokedReason.CODE_REUSE: use_the_code_again,
    RevokedReason.REFRESH_REUSE: use_a_rotated_token,
    RevokedReason.CLIENT_REVOKED: lambda held: held.program.revoke(held.secrets[0]),
}

# A pasted credential has no code, no refresh token and no client, and its own way in.
BROWSER_ONLY = {
    RevokedReason.BROWSER_SIGN_IN_OFF,
    RevokedReason.CODE_REUSE,
    RevokedReason.REFRESH_REUSE,
    RevokedReason.CLIENT_REVOKED,
}
CASES = [
    (reason, kind)
    for reason, kind in product(RevokedReason, ConnectionKind)
    if kind == ConnectionKind.BROWSER or reason not in BROWSER_ONLY
]


# What carries a call says nothing of the database.
TRANSPORTS = [
    pytest.param(HttpAgent, id="http"),
    pytest.param(McpAgent, id="mcp", marks=pytest.mark.sqlite),
]


def call_at(agent: HttpAgent, host: str) -> Answer:
    if isinstance(agent, McpAgent):
        params = {"name": "teams_list", "arguments": {}}
        return agent.send("tools/call", params, headers={"Host": host})
    return agent.request("GET", "/api/v1/teams", headers={"Host": host})


@pytest.fixture
def held(access_on, owner, delegate, colleague, settings) -> Held:
    turn_sign_in(on=True)
    return Held(owner, delegate, colleague, settings, secrets=[])


def lend(held: Held, kind: ConnectionKind, connect: Any) -> None:
    if kind == ConnectionKind.PASTED:
        connection, agent = connect(held.delegate)
        held.id, held.secrets = connection.id, [agent.credential]
        return
    program = held.program = make_program(RETURN_ADDRESS)
    path = program.authorize_path(scope=" ".join(SCOPES))
    allowed = Browser(held.owner).allow(path, held.delegate, scopes=SCOPES)
    held.code = parameters_of(allowed)["code"]
    pair = program.exchange(held.code).body
    held.secrets, held.refresh_token = [pair["access_token"]], pair["refresh_token"]
    held.id = Connection.objects.get().id


def work(agent: HttpAgent, draft_body: dict[str, Any]) -> None:
    """Leave a draft, an issued invoice and an approval that waits."""
    for name in ("issued", "waiting"):
        draft = agent.call("drafts.create", draft_body, key=f"draft-{name}").data
        prepared = issuing.prepare(agent, draft["id"], key=f"prepare-{name}").data
        if name == "issued":
            issuing.decide(prepared)
            assert issuing.execute(agent, prepared).data["status"] == "executed"


def read_evidence(held: Held) -> dict[str, Any]:
    """Return all rows of the connection's work, its chain, and its own row up to its ending."""
    rows = take_snapshot()
    kept: dict[str, Any] = {label: rows[label] for label in EVIDENCE}
    chain = AuditEvent.objects.filter(chain=str(held.id)).order_by("sequence")
    connection = Connection.objects.filter(pk=held.id).values().get()
    del connection["revoked_at"], connection["revoked_reason"]
    return kept | {"chain": list(chain.values()), "connection": connection}


def undo_everything(held: Held) -> None:
    """Switch everything off and on, bring the person and the owner back, return to the address."""
    held.move_to(HOST)
    transfer_ownership_as_operator(held.owner.pk)
    turn_sign_in(on=False)
    turn_sign_in(on=True)
    turn_access(on=False)
    turn_access(on=True)
    held.change_delegate(is_active=True, is_guest=False)


@pytest.mark.requirement(
    "revocation.stops_calls",
    "revocation.access_off",
    "revocation.sign_in_off",
    "revocation.other_endings",
    "revocation.evidence_remains",
    "revocation.approval_results_remain",
    "sign_in.reuse",
    "authentication.refused",
)
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("reason", "kind"), CASES)
def test_the_next_call_is_refused_all_evidence_stays_and_nothing_revives(
    held, connect, draft_body, reason, kind, transport
):
    lend(held, kind, connect)
    agent = transport(held.secrets[0])
    work(agent, draft_body)
    evidence = read_evidence(held)
    assert not ended_connections(held.delegate).exists()

    ENDINGS[reason](held)

    person = User.objects.get(pk=held.delegate.pk)
    assert ended_connections(person).filter(pk=held.id).exists()  # recorded already or not
    host = OTHER_HOST if reason == RevokedReason.APPLICATION_URL_CHANGED else HOST
    for secret in held.secrets:
        refused = call_at(transport(secret), host)
        assert (refused.status, "WWW-Authenticate" in refused.headers) == (401, True)
    ended = Connection.objects.get(pk=held.id)
    assert (ended.revoked_at is not None, ended.revoked_reason) == (True, reason)
    assert read_evidence(held) == evidence

    undo_everything(held)

    for secret in held.secrets:
        agent = transport(secret)
        assert call_at(agent, HOST).status == 401
        # The receipt that is kept gives nobody its answer.
        assert agent.call("drafts.create", draft_body, key="draft-issued").status == 401
    if kind == ConnectionKind.BROWSER:
        assert held.program.refresh(held.refresh_token).body["error"] == "invalid_grant"
    again = Connection.objects.get(pk=held.id)
    assert (again.revoked_at, again.revoked_reason) == (ended.revoked_at, reason)
    assert read_evidence(held) == evidence
    assert list(find_breaks()) == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_pasted_credential_outlives_browser_sign_in(held, connect, transport):
    lend(held, ConnectionKind.PASTED, connect)
    turn_sign_in(on=False)
    assert call_at(transport(held.secrets[0]), HOST).status == 200


def test_a_person_as_they_were_before_their_end_gets_no_connection(held, connect):
    """The owner's page read the person; before it wrote, they were sent away and let in again."""
    held.change_delegate(is_active=False)
    held.change_delegate(is_active=True)
    with pytest.raises(ConnectionNotAllowedError):
        lend(held, ConnectionKind.PASTED, connect)
    assert not Connection.objects.exists()
