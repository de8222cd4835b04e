"""What agent access asks of the project that it serves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet

from agent_access.errors import ToolError
from agent_access.models.connections import RevokedReason
from agent_access.tools import JSONSchema, Tool


@dataclass(frozen=True, kw_only=True)
class Service:
    """How the service introduces itself to a client, and what a model should know first."""

    name: str
    title: str
    version: str
    instructions: str


@dataclass(frozen=True)
class ScopeTerms:
    """What a scope lets a program do, in words, and whether the owner must tick it himself."""

    description: str
    is_ticked_beforehand: bool = True


@dataclass(frozen=True, kw_only=True)
class Work:
    """Something that a connection made in the project, as the owner is told of it."""

    kind: str
    label: str
    state: str
    made_at: datetime
    href: str


class Host(Protocol):
    """The project's side. Every answer is asked for anew on each call; nothing is kept.

    A `user` is an instance of the project's AUTH_USER_MODEL, whose primary key is a UUID.
    """

    def owner_id(self) -> UUID | None:
        """Return who owns this installation, or None before there is one."""

    def owner_statement(self) -> str | None:
        """Return SQL whose one value is the owner's ID, to be a part of what every call asks.

        None where no single statement tells: then every call asks `owner_id` as well.
        """

    def delegate_problem(self, user: Any) -> RevokedReason | None:
        """Return why the user may not be acted for, or None if he may."""

    def delegates(self) -> QuerySet[Any]:
        """Return the users who may be acted for, as the owner chooses among them."""

    def scopes(self) -> Mapping[str, ScopeTerms]:
        """Return how each scope is put to the owner."""

    def session_revision(self, user: Any) -> int:
        """Return the counter that ends the user's sessions and connections when it moves."""

    def service(self) -> Service:
        """Return the service's name, version and instructions."""

    def in_demo_mode(self) -> bool:
        """Return whether every writing tool is refused."""

    def failures(self) -> Mapping[type[Exception], Callable[[Any], ToolError]]:
        """Return the one table from the project's failures to the answers of the interface."""

    def work_of(self, connection_id: UUID) -> Sequence[Work]:
        """Return the latest things that a connection made, without what they say."""

    def work_page(self, connection_id: UUID) -> str:
        """Return the address of a page with all that a connection wrote, or nothing."""

    def schema_filler(self) -> Callable[[Tool, JSONSchema], JSONSchema]:
        """Return a function that puts today's values into the input schema of one tool."""
