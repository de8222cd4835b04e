"""The REST surface: one view for every tool; DRF carries requests and answers."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from typing_extensions import override

from agent_access.admission import Admission
from agent_access.bodies import read_json
from agent_access.calls import Arguments, ToolCall
from agent_access.errors import MethodNotAllowedError, NotFoundError, ValidationFailedError
from agent_access.execution import execute, find_tool_error
from agent_access.http.queries import find_unknown_parameters, read_query
from agent_access.inputs import KEY_HEADER
from agent_access.models.audit import Transport
from agent_access.tools import Tool


class JsonBytesRenderer(BaseRenderer):
    """Passes on a body that is JSON already, byte for byte."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    @override
    def render(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        return data


class JsonOnly(BaseContentNegotiation):
    """Decisions of the interface: Accept is never refused and nothing changes the format."""

    @override
    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> None:
        return None

    @override
    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class ToolView(APIView):
    """Answers one path: the tools by method, or none at all where the path is unknown."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    parser_classes = ()
    renderer_classes = (JsonBytesRenderer,)
    content_negotiation_class = JsonOnly
    tools: Mapping[str, Tool] = {}

    admission: Admission

    @property
    @override
    def allowed_methods(self) -> list[str]:
        return sorted(self.tools)

    @property
    @override
    def default_response_headers(self) -> dict[str, str]:
        """Return nothing: DRF would send Allow with every answer."""
        return {}

    @override
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.admission = Admission(request._request, transport=Transport.HTTP)  # noqa: SLF001  the transport-neutral code knows no DRF
        self.admission.require_access_on()
        if not self.tools:
            raise NotFoundError
        if request.method not in self.tools:
            raise MethodNotAllowedError(self.allowed_methods)

    def answer(self, request: Request, target: str | None = None) -> Response:
        tool = self.tools[str(request.method)]
        connection = self.admission.admit(action=tool.name)
        result = execute(
            ToolCall(
                tool=tool,
                connection=connection,
                settings=self.admission.settings,
                origin=self.admission.origin,
                read_arguments=lambda: _read_arguments(request._request, tool),  # noqa: SLF001  as above
                target=target,
                idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
                key_field=KEY_HEADER,
                admitted_at=self.admission.admitted_at,
            )
        )
        headers = self.admission.headers | result.headers
        return Response(result.body, status=result.status, headers=headers)

    get = post = put = patch = delete = answer

    @override
    def handle_exception(self, exc: Exception) -> Response:
        error = find_tool_error(exc)
        admission: Admission | None = getattr(self, "admission", None)
        headers = error.headers | (admission.headers if admission else {})
        response = Response(orjson.dumps(error.body()), status=error.status, headers=headers)
        response.exception = True
        return response


def _read_arguments(request: HttpRequest, tool: Tool) -> Arguments:
    if not tool.takes_body:
        return read_query(request, tool)
    body = read_json(request)
    if not isinstance(body, dict):
        raise ValidationFailedError
    return Arguments(body, find_unknown_parameters(request))
