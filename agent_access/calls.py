"""What goes into a tool and what comes out, whatever the transport."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from django.utils.functional import cached_property

from agent_access.audit import Origin
from agent_access.callers import Caller
from agent_access.errors import FieldProblem
from agent_access.keys import Key
from agent_access.models import AccessSettings, Connection
from agent_access.tools import Tool

__all__ = ["CallContext", "Page", "Record"]


@dataclass(frozen=True)
class Arguments:
    """What a client sent, in its order, and the problems that the transport itself found."""

    values: Mapping[str, Any]
    problems: Sequence[FieldProblem] = ()


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call as a transport received it.

    `read_arguments` is called once, by `execute`, so that an unreadable body is refused and audited
    like any other mistake. `target` is the record's ID as it was sent. `key_field` is what this
    transport calls the idempotency key, for problems with it.
    """

    tool: Tool
    caller: Caller
    origin: Origin
    read_arguments: Callable[[], Arguments]
    target: str | None
    idempotency_key: str | None
    key_field: str

    @property
    def connection(self) -> Connection:
        return self.caller.connection

    @cached_property
    def target_id(self) -> Key | None:
        """Return the target, or None for a text that is not an ID and so names no record."""
        try:
            return None if self.target is None else self.tool.read_id(self.target)
        except ValueError:
            return None


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """What a tool's function knows of its call: the delegated user, the connection, the target."""

    user: Any
    connection: Connection
    settings: AccessSettings
    target: Key | None = None
    idempotency_key: str = ""

    def record_id(self) -> Any:
        """Return the target, of the tool's `id_type`; raise TypeError for a tool without one."""
        if self.target is None:
            raise TypeError("The path of this tool names no record.")
        return self.target


def dump_json(value: Any) -> bytes:
    """Return JSON with IDs as strings, dates as YYYY-MM-DD, times as RFC 3339 in UTC with Z."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


# What an answer holds; a TypedDict, if the OpenAPI document is to describe it.
Shape = TypeVar("Shape")


@dataclass(frozen=True)
class Record(Generic[Shape]):
    """An answer about one record; `record_id` is the one that a replay looks for again.

    `status` is set where it is not the tool's own. `content_digest` is the SHA-256, in hexadecimal,
    of what the tool did, which the call's audit event keeps.
    """

    data: Shape | orjson.Fragment
    record_id: Key | None = None
    status: int | None = None
    content_digest: str = ""

    def body(self) -> bytes:
        return dump_json({"data": self.data})


@dataclass(frozen=True)
class Page(Generic[Shape]):
    """A page of a list. `next` is the ID to pass as `after`, or None on the last page."""

    data: Sequence[Shape]
    next: Key | None
    record_id: None = None
    status: None = None
    content_digest: str = ""

    def body(self) -> bytes:
        return dump_json({"data": self.data, "next": self.next})


Answer = Record[Any] | Page[Any]


@dataclass(frozen=True)
class ToolResult:
    """A successful answer: the status and the exact bytes of the JSON body."""

    status: int
    body: bytes
    is_replay: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """Return the HTTP header fields that belong to this answer, over every transport."""
        return {"Idempotent-Replayed": "true"} if self.is_replay else {}
