"""One call of a tool, whatever the transport, and the calls that walk through a list."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.agents import Answer, HttpAgent


@dataclass(frozen=True, kw_only=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    id: UUID | str | None = None
    key: str | None = None

    def made_by(self, agent: HttpAgent) -> Answer:
        return agent.call(self.tool, self.arguments, id=self.id, key=self.key)


def walk(agent: HttpAgent, tool: str, **arguments: Any) -> list[list[str]]:
    """Return the pages from the first to the last, each as its IDs."""
    pages: list[list[str]] = []
    after = None
    while True:
        cursor: dict[str, str] = {} if after is None else {"after": after}
        body = agent.call(tool, arguments | cursor).body
        assert list(body) == ["data", "next"]
        pages.append([record["id"] for record in body["data"]])
        if (after := body["next"]) is None:
            return pages
