"""The REST surface: one view for every tool; DRF carries requests and answers."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
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


class ToolView(APIView):
    """Answers one path: the tools by method, or none at all where the path is unknown."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    parser_classes = ()
    renderer_classes = ()
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
    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Return DRF's request without what is for parsers, which refers to itself.

        So the memory of a call is free at its end, and not when the collector comes.
        """
        made = super().initialize_request(request, *args, **kwargs)
        made.parser_context.clear()
        return made

    @override
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Admit the request instead of all that DRF would do: negotiate, authenticate, throttle.

        Decisions of the interface: Accept is never refused and nothing changes the format.
        """
        self.admission = Admission(request._request, transport=Transport.HTTP)  # noqa: SLF001  the transport-neutral code knows no DRF
        self.admission.require_access_on()
        if not self.tools:
            raise NotFoundError
        if request.method not in self.tools:
            raise MethodNotAllowedError(self.allowed_methods)

    def answer(self, request: Request, target: str | None = None) -> HttpResponse:
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
        return _write_answer(result.body, result.status, headers)

    # HEAD is no tool's; where it is missing Django makes each view refer to itself.
    get = head = post = put = patch = delete = answer

    @override
    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF passes on any response
        error = find_tool_error(exc)
        admission: Admission | None = getattr(self, "admission", None)
        headers = error.headers | (admission.headers if admission else {})
        return _write_answer(orjson.dumps(error.body()), error.status, headers)


def _write_answer(body: bytes, status: int, headers: Mapping[str, str]) -> HttpResponse:
    return HttpResponse(body, status=status, headers=headers, content_type="application/json")


def _read_arguments(request: HttpRequest, tool: Tool) -> Arguments:
    if not tool.takes_body:
        return read_query(request, tool)
    body = read_json(request)
    if not isinstance(body, dict):
        raise ValidationFailedError
    return Arguments(body, find_unknown_parameters(request))
