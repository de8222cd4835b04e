"""Approving and issuing where a passkey is demanded, as a page's script does it over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.test import Client

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent
from agent_access.passkeys.models import SigningRules
from invoicing.models import Document
from tests.agents import Answer, HttpAgent
from tests.interface import issuing
from tests.passkeys import SoftPasskey, challenge_in
from tests.snapshots import take_snapshot


def demand(**rules: Any) -> None:
    """Let the owner's rules be these and no others."""
    chosen = {"always": False, "connections": [], "parties": [], "limits": {}, "apart": False}
    SigningRules.objects.update_or_create(pk=SigningRules.ONLY_ID, defaults=chosen | rules)


@dataclass(frozen=True)
class Asked:
    """A request that an agent prepared, and the browser in which its person decides it."""

    agent: HttpAgent
    desk: Client
    told: Any

    @property
    def path(self) -> str:
        return f"/approvals/{self.told['approval_id']}"

    @property
    def approval(self) -> ApprovalRequest:
        return ApprovalRequest.objects.get(pk=self.told["approval_id"])

    def challenge(self) -> bytes:
        """Return what the page's script is given to sign."""
        return challenge_in(self.desk.post(f"{self.path}/sign").json()["publicKey"])

    def approve(self, assertion: str | None = None) -> Any:
        form = {"decision": "approve", "fingerprint": self.approval.fingerprint, "reason": ""}
        if assertion is not None:
            form["assertion"] = assertion
        return self.desk.post(self.path, form)

    def sign(self, soft: SoftPasskey, **lies: Any) -> Any:
        """Approve it as the page's script does, with this passkey."""
        return self.approve(soft.sign(self.challenge(), **lies))

    def execute(self, key: str = "execute") -> Answer:
        return issuing.execute(self.agent, self.told, key=key)

    def read(self) -> Any:
        return issuing.read(self.agent, self.told)


def ask(agent: HttpAgent, desk: Client, body: Any, *, key: str = "1") -> Asked:
    """Create a draft, and ask for its issue."""
    draft = agent.call("drafts.create", body, key=f"create-{key}").data
    told = issuing.prepare(agent, draft["id"], key=f"prepare-{key}").data
    return Asked(agent, desk, told)


@contextmanager
def nothing_is_approved(asked: Asked, reason: str) -> Iterator[None]:
    """Run a block, of which nothing must stay but its one event, and execute in vain."""
    before = _what_is_kept()
    yield
    assert _what_is_kept() == before
    events = AuditEvent.objects.filter(action="approval:signature_refused")
    [event] = events.filter(target=str(asked.approval.pk))
    assert (event.outcome, event.detail) == ("signature_refused", reason)
    assert event.chain == str(asked.approval.connection_id)
    assert_not_executable(asked)


def _what_is_kept() -> dict[str, Any]:
    kept = take_snapshot()
    del kept["agent_passkeys.Challenge"]  # made by whoever asks, and of no use unsigned
    return kept


def assert_not_executable(asked: Asked) -> None:
    answer = asked.execute(key="in-vain")
    assert (answer.status, answer.code) == (409, "approval_pending")
    assert asked.read()["status"] == "pending"
    assert not Document.objects.filter(status="issued").exists()


def change_past_triggers(table: str, column: str, value: Any) -> None:
    """Write a column of all rows by SQL, as whoever owns the table can."""
    with connection.cursor() as cursor:
        _drop_triggers(cursor, table)
        cursor.execute(f"UPDATE {table} SET {column} = %s", [value])  # noqa: S608  constants only


def delete_signatures() -> None:
    """Delete all signatures by SQL."""
    with connection.cursor() as cursor:
        _drop_triggers(cursor, "agent_passkeys_signature")
        cursor.execute("DELETE FROM agent_passkeys_signature")


def _drop_triggers(cursor: Any, table: str) -> None:
    if connection.vendor == "postgresql":
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        return
    cursor.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table]
    )
    for (name,) in cursor.fetchall():
        cursor.execute(f"DROP TRIGGER {name}")


def as_stored(pk: UUID) -> str:
    """Return an ID as SQL has it."""
    return str(pk) if connection.vendor == "postgresql" else pk.hex
