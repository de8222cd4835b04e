"""The REST surface: one view for every tool."""

from collections.abc import Mapping

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from agent_access.admission import Admission
from agent_access.bodies import read_json
from agent_access.calls import Arguments, ToolCall
from agent_access.errors import (
    OBJECT_AS_TEXT,
    MethodNotAllowedError,
    NotFoundError,
    ValidationFailedError,
)
from agent_access.execution import execute, find_tool_error
from agent_access.fields import holds_json
from agent_access.gate import refuse_as_json
from agent_access.http.queries import find_unknown_parameters, read_query
from agent_access.inputs import KEY_HEADER
from agent_access.models.audit import Transport
from agent_access.tools import Tool


@csrf_exempt
@login_not_required
def serve(
    request: HttpRequest, *, tools: Mapping[str, Tool], target: str | None = None
) -> HttpResponse:
    """Answer one path; `tools` are its tools by HTTP method, none where the path is unknown.

    The answer is JSON whatever Accept says; no value of it is refused.
    """
    admission = Admission(request, transport=Transport.HTTP)
    try:
        response = _answer(request, admission, tools, target)
    except Exception as exception:  # noqa: BLE001  the last handler: every failure gets an answer
        # The error is not kept in a variable: its traceback refers to this frame, in a cycle.
        response = refuse_as_json(find_tool_error(exception))
    for name, value in admission.headers.items():
        response[name] = value
    return response


def _answer(
    request: HttpRequest, admission: Admission, tools: Mapping[str, Tool], target: str | None
) -> HttpResponse:
    admission.require_access_on()
    if not tools:
        raise NotFoundError
    tool = tools.get(str(request.method))
    if tool is None:
        raise MethodNotAllowedError(sorted(tools))
    caller = admission.admit(action=tool.name)
    result = execute(
        ToolCall(
            tool=tool,
            caller=caller,
            origin=admission.origin,
            read_arguments=lambda: _read_arguments(request, tool),
            target=target,
            idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
            key_field=KEY_HEADER,
        )
    )
    return HttpResponse(
        result.body,
        status=result.status,
        headers=result.headers,
        content_type="application/json",
    )


def _read_arguments(request: HttpRequest, tool: Tool) -> Arguments:
    if not tool.takes_body:
        return read_query(request, tool)
    body = read_json(request)
    if holds_json(body):
        raise ValidationFailedError(message=OBJECT_AS_TEXT.format(name="body"))
    if not isinstance(body, dict):
        raise ValidationFailedError
    return Arguments(body, find_unknown_parameters(request))
