"""Bodies: bounded, JSON only, and only JSON that every reader understands alike."""

from collections.abc import Mapping
from typing import Any

from rest_framework.parsers import BaseParser
from typing_extensions import override

from agent_access.bodies import JSONValue, read_json

__all__ = ["StrictJSONParser"]


class StrictJSONParser(BaseParser):
    """Returns the JSON value of a body, as MCP reads it; raises what `read_json` raises."""

    media_type = "application/json"

    @override
    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> JSONValue:
        return read_json(stream)
