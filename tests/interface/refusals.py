"""Refusals as the interface describes them, and what they leave behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from agent_access.errors import (
    DEMO_MODE,
    KEY_USED,
    MISSING_PERMISSION,
    MISSING_SCOPE,
    NOT_HTTPS,
    ORIGIN_SENT,
    OTHER_HOST,
    ToolError,
)
from agent_access.models import AuditEvent, Connection
from invoicing.agent_tools import failures
from invoicing.errors import ConflictCause
from tests.agents import Answer
from tests.snapshots import take_snapshot
from tests.tool_table import TABLE

# The sentences stand once, beside their codes; here they only must be the whole of the answer.
OF_APPROVALS: tuple[type[ToolError], ...] = (*failures.APPROVAL_REFUSALS.values(),)
SENTENCES = {error.code: error.message for error in (*ToolError.__subclasses__(), *OF_APPROVALS)}

STATUSES = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "approval_pending": 409,
    "approval_rejected": 409,
    "approval_stale": 409,
    "approval_used": 409,
    "approval_expired": 410,
    "payload_too_large": 413,
    "json_required": 415,
    "validation_failed": 422,
    "rate_limited": 429,
}


Refusal = tuple[int, Any]


def refusal(code: str, message: str = "", **fields: Any) -> Refusal:
    """Return the status and the whole body of a refusal, of one with causes by its message."""
    told = {"code": code, "message": message or SENTENCES[code], **fields}
    return STATUSES[code], {"error": told}


def missing_grant(tool: str) -> Refusal:
    return refusal("forbidden", MISSING_SCOPE.format(scope=TABLE[tool].scope))


def missing_permissions(*permissions: str) -> Refusal:
    named = ", ".join(permissions)
    return refusal("forbidden", MISSING_PERMISSION.format(permissions=named))


def no_permissions(tool: str) -> Refusal:
    """Return the refusal of a tool to somebody who has none of its permissions."""
    return missing_permissions(*TABLE[tool].permissions)


def conflict(cause: ConflictCause) -> Refusal:
    named = {"fields": ["lock_version"]} if cause is ConflictCause.OLD_VERSION else {}
    return refusal("conflict", failures.CONFLICTS[cause], **named)


# What comes from outside, and what it is told.
OUTSIDE: dict[str, tuple[dict[str, Any], str]] = {
    "not HTTPS": ({"wsgi.url_scheme": "http"}, NOT_HTTPS),
    "another host": ({"headers": {"Host": "other.example"}}, OTHER_HOST),
    "a host that only begins alike": (
        {"headers": {"Host": "invoices.example.other.example"}},
        OTHER_HOST,
    ),
    "another port": ({"headers": {"Host": "invoices.example:8443"}}, OTHER_HOST),
    "no host": ({"headers": {"Host": ""}}, OTHER_HOST),
    "a foreign origin": ({"headers": {"Origin": "https://other.example"}}, ORIGIN_SENT),
    "its own origin": ({"headers": {"Origin": "https://invoices.example"}}, ORIGIN_SENT),
    "a null origin": ({"headers": {"Origin": "null"}}, ORIGIN_SENT),
}

IN_DEMO_MODE = refusal("forbidden", DEMO_MODE)
OLD_VERSION = conflict(ConflictCause.OLD_VERSION)
NO_DRAFT_INVOICE = conflict(ConflictCause.NO_DRAFT_INVOICE)
KEY_OF_ANOTHER_CALL = refusal("conflict", KEY_USED, fields=["Idempotency-Key"])


def invalid(*problems: tuple[str, str]) -> Refusal:
    """Return the status and the whole body that name these fields and what is wrong with each."""
    status, body = refusal("validation_failed")
    body["error"]["fields"] = list(dict.fromkeys(field for field, _ in problems))
    body["error"]["problems"] = [
        {"field": field, "problem": problem} for field, problem in problems
    ]
    return status, body


def seen(answer: Answer) -> tuple[int, Any]:
    return answer.status, answer.body


def audit_of(connection: Connection) -> list[tuple[str, str]]:
    """Return the tool and the outcome of every event in the connection's chain."""
    events = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    return list(events.values_list("action", "outcome"))


@contextmanager
def nothing_changes(*, but: str = "") -> Iterator[None]:
    """Check that every table is left as it was, but the one named."""
    before = take_snapshot()
    yield
    after = take_snapshot()
    assert {name for name in before if before[name] != after[name]} <= {but}


def request_id_of(answer: Answer) -> str:
    """Return the answer's request ID, which must be a UUIDv7."""
    request_id = answer.headers["X-Request-Id"]
    assert UUID(request_id).version == 7
    return request_id
