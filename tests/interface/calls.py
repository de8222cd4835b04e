"""One call of a tool, whatever the transport."""

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
