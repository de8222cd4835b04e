"""The interface's table of tools, literally, and what one valid call of each looks like."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from invoicing.access import Permission
from tests.agents import HTTP_TOOLS, Answer, HttpAgent


class Row(NamedTuple):
    module: str | None
    scope: str | None
    permissions: tuple[Permission, ...]
    writes: bool = False
    status: int = 200


READING = (Permission.VIEW_DOCUMENT,)
DRAFTING = (Permission.MANAGE,)
PREPARING = (Permission.FINALIZE,)
ISSUING = (Permission.FINALIZE, Permission.MANAGE)
PEOPLE = (Permission.VIEW_PERSON,)

TABLE = {
    "tools.list": Row(None, None, ()),
    "customers.search": Row("customers", "customers:read", (Permission.VIEW_CUSTOMER,)),
    "documents.list": Row("invoices", "invoices:read", READING),
    "documents.get": Row("invoices", "invoices:read", READING),
    "documents.preview": Row("invoices", "invoices:read", READING),
    "drafts.create": Row("invoices", "invoices:prepare", DRAFTING, writes=True, status=201),
    "drafts.update": Row("invoices", "invoices:prepare", DRAFTING, writes=True),
    "documents.issue_prepare": Row(
        "invoices", "invoices:execute", PREPARING, writes=True, status=202
    ),
    "approvals.get": Row("invoices", "invoices:execute", PREPARING),
    "documents.issue": Row("invoices", "invoices:execute", ISSUING, writes=True),
    "people.list": Row("people", "people:read", PEOPLE),
    "people.get": Row("people", "people:read", PEOPLE),
    "teams.list": Row("people", "people:read", PEOPLE),
}

LISTS = ("customers.search", "documents.list", "people.list", "teams.list")
WITH_TARGET = tuple(tool for tool, (_, path) in HTTP_TOOLS.items() if "{id}" in path)
WITH_BODY = tuple(tool for tool, (method, _) in HTTP_TOOLS.items() if method != "GET")
WRITING = tuple(tool for tool, row in TABLE.items() if row.writes)
DRAFT_WRITES = ("drafts.create", "drafts.update")
TAKING_A_DRAFT = ("documents.preview", *DRAFT_WRITES)
ISSUE_TOOLS = tuple(tool for tool, row in TABLE.items() if row.scope == "invoices:execute")


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a tool, whatever the transport."""

    tool: str
    arguments: Mapping[str, Any]
    id: UUID | str | None = None
    key: str | None = None

    def made_by(self, agent: HttpAgent) -> Answer:
        return agent.call(self.tool, self.arguments, id=self.id, key=self.key)
