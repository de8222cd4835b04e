"""What agent access asks of the project that it serves."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet

from agent_access.errors import ToolError
from agent_access.fields import JSONSchema
from agent_access.models.connections import RevokedReason
from agent_access.tools import Tool


@dataclass(frozen=True, kw_only=True)
class Service:
    """How the service introduces itself to a client, and what a model should know first."""

    name: str
    title: str
    version: str
    instructions: str


@dataclass(frozen=True)
class ScopeTerms:
    """What a scope lets a program do, in words, and whether its box is ticked from the start."""

    description: str
    is_ticked_beforehand: bool = True


@dataclass(frozen=True, kw_only=True)
class Work:
    """Something that a connection made in the project, as the owner is shown it.

    `href` is empty where the owner may not open its page.
    """

    kind: str
    label: str
    state: str
    made_at: datetime
    href: str = ""


@dataclass(frozen=True)
class ShellLines:
    """Lines to paste into a shell, under a heading, as the owner of a new connection reads them."""

    heading: str
    text: str


class Host(Protocol):
    """What the project provides.

    Each method is called again for every request; no answer is kept but that of `owner_id_sql`.
    A `user` is an instance of the project's AUTH_USER_MODEL, whose primary key is a UUID.
    """

    def owner_id(self) -> UUID | None:
        """Return who owns this installation, or None before there is one."""

    def owner_id_sql(self) -> str | None:
        """Return a SELECT of the owner's ID, to be part of the statement that every call executes.

        It is kept as long as the process lives. None where no single statement can tell: then
        `owner_id` is called as well for each call.
        """

    def delegate_problem(self, user: Any) -> RevokedReason | None:
        """Return why the user may not be acted for, or None if they may."""

    def delegates(self) -> QuerySet[Any]:
        """Return the users who may be acted for, as the owner chooses among them."""

    def scopes(self) -> Mapping[str, ScopeTerms]:
        """Return how each scope is described to the owner; every scope of a tool must be there."""

    def session_revision(self, user: Any) -> int:
        """Return a counter of the user; their sessions and connections end when it changes.

        Whatever ends web sessions must raise it, above all another password, no matter which
        program writes it.
        """

    def service(self) -> Service:
        """Return the service's name, version and instructions."""

    def in_demo_mode(self) -> bool:
        """Return whether every writing tool is refused."""

    def answer_failure(self, failure: Exception) -> ToolError | None:
        """Return what answers an exception of the project's own, or None for any other."""

    def missing_for_agents(self) -> Sequence[str]:
        """Return what an agent cannot do without and nobody has entered yet, for the operator.

        One sentence each, which says where to enter it; nothing if an agent is of use.
        """

    def records_made_by(self, connection_id: UUID, viewer: Any) -> Sequence[Work]:
        """Return the latest things that a connection made, without their contents.

        `viewer` is the user who asks: the owner, who may lack permissions in the project.
        """

    def records_url(self, connection_id: UUID, viewer: Any) -> str:
        """Return the address of a page with all that a connection made.

        Empty if there is none, or the viewer may not open it.
        """

    def record_labels(self, record_ids: Collection[UUID], viewer: Any) -> Mapping[UUID, str]:
        """Return what the project's records with these IDs are called, for pages of the audit.

        Left out are unknown IDs, and records whose name the viewer may not know; users and
        connections are named already.
        """

    def find_ids_by_label(self, name: str) -> Collection[UUID]:
        """Return the IDs of the project's records that are called so, as a search of the audit."""

    def schema_filler(self) -> Callable[[Tool, JSONSchema], JSONSchema]:
        """Return a function that completes a tool's input schema with the values allowed today."""

    def first_steps(self, *, credential: str, grants: Collection[str]) -> Sequence[ShellLines]:
        """Return lines that try a new connection, for the page that shows its credential once."""
