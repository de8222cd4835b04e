"""Answers: JSON in UTF-8, whatever the request's Accept says."""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from typing_extensions import override

from agent_access.calls import dump_json

__all__ = ["NoNegotiation", "ToolRenderer"]


class ToolRenderer(BaseRenderer):
    """Writes an answer's data as JSON; the bytes of a tool's answer as they were kept."""

    media_type = "application/json"
    format = "json"
    charset = None  # JSON has none (RFC 8259 section 11)

    @override
    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return data if isinstance(data, bytes) else dump_json(data)


class NoNegotiation(BaseContentNegotiation):
    """Takes the view's first parser and renderer: no header and no `?format=` has a say."""

    @override
    def select_parser(self, request: Request, parsers: Sequence[BaseParser]) -> BaseParser:
        return parsers[0]

    @override
    def select_renderer(
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
