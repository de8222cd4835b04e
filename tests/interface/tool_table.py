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
    permission: Permission | None
    writes: bool = False


TABLE = {
    "tools.list": Row(None, None, None),
    "customers.search": Row("customers", "customers:read", Permission.VIEW_CUSTOMER),
    "documents.list": Row("invoices", "invoices:read", Permission.VIEW_DOCUMENT),
    "documents.get": Row("invoices", "invoices:read", Permission.VIEW_DOCUMENT),
    "documents.preview": Row("invoices", "invoices:read", Permission.VIEW_DOCUMENT),
    "drafts.create": Row("invoices", "invoices:prepare", Permission.MANAGE, writes=True),
    "drafts.update": Row("invoices", "invoices:prepare", Permission.MANAGE, writes=True),
    "people.list": Row("people", "people:read", Permission.VIEW_PERSON),
    "people.get": Row("people", "people:read", Permission.VIEW_PERSON),
    "teams.list": Row("people", "people:read", Permission.VIEW_PERSON),
}

LISTS = ("customers.search", "documents.list", "people.list", "teams.list")
WITH_TARGET = tuple(tool for tool, (_, path) in HTTP_TOOLS.items() if "{id}" in path)
WITH_BODY = tuple(tool for tool, (method, _) in HTTP_TOOLS.items() if method != "GET")
WRITING = tuple(tool for tool, row in TABLE.items() if row.writes)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a tool, whatever the transport."""

    tool: str
    arguments: Mapping[str, Any]
    id: UUID | str | None = None
    key: str | None = None

    def made_by(self, agent: HttpAgent) -> Answer:
        return agent.call(self.tool, self.arguments, id=self.id, key=self.key)
