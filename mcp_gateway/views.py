"""The MCP endpoint: streamable HTTP, POST only, stateless, one JSON answer per request."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from agent_access.admission import Admission
from agent_access.bodies import read_json
from agent_access.callers import Caller
from agent_access.discovery import resource
from agent_access.errors import MethodNotAllowedError, NotFoundError, ToolError
from agent_access.execution import find_tool_error
from agent_access.models.audit import Transport
from mcp_gateway import answers
from mcp_gateway.eras import find_era
from mcp_gateway.jsonrpc import ProtocolError, read_message
from mcp_gateway.protocol import Exchange, answer_request

logger = logging.getLogger(__name__)

WRONG_ADDRESS = (
    "There is nothing at this address. The MCP endpoint is {address}, without anything after it,"
    " such as a slash: correct the address in the client's settings."
)

# What the audit calls a message that never became a call of a tool.
ACTION = "mcp.message"


def serve(request: HttpRequest) -> HttpResponse:
    """Answer one message; no cookie authenticates it, so no forgery is possible."""
    return _respond(request, _answer)


def refuse_path(request: HttpRequest) -> HttpResponse:
    """Answer 404 with the endpoint's address, unless access is off.

    Many clients show only that their "session" was terminated, so the log says it, too.
    """
    return _respond(request, _refuse_path)


def _respond(
    request: HttpRequest, answer: Callable[[HttpRequest, Admission], HttpResponse]
) -> HttpResponse:
    admission = Admission(request, transport=Transport.MCP)
    try:
        admission.require_access_on()
        response = answer(request, admission)
    except Exception as exception:  # noqa: BLE001  the last handler: every failure gets an answer
        response = answers.refuse(find_tool_error(exception))
    for name, value in admission.headers.items():
        response[name] = value
    return response


def _refuse_path(request: HttpRequest, admission: Admission) -> HttpResponse:
    address = resource()
    logger.warning("A client called an address below the MCP endpoint, which is %s", address)
    return answers.refuse(NotFoundError(WRONG_ADDRESS.format(address=address)), address=address)


def _answer(request: HttpRequest, admission: Admission) -> HttpResponse:
    """Answer what the caller sent, and audit what never became a call of a tool."""
    if request.method != "POST":
        raise MethodNotAllowedError(["POST"])
    caller = admission.admit(action=ACTION)
    try:
        message = read_message(read_json(request))
        era = find_era(message, request.META)
        if message.is_notification:
            return answers.accept()
    except (ToolError, ProtocolError) as error:
        return _refuse_message(admission, caller, error)
    exchange = Exchange(message=message, era=era, caller=caller, origin=admission.origin)
    try:
        reply = answer_request(exchange)
        return answers.answer(message.id, reply.result, headers=reply.headers)
    except ProtocolError as error:
        return _refuse_message(admission, caller, error)
    except Exception as exception:  # noqa: BLE001  the last handler that knows the request's id
        return answers.refuse(find_tool_error(exception), request_id=message.id)


def _refuse_message(
    admission: Admission, caller: Caller, error: ToolError | ProtocolError
) -> HttpResponse:
    if isinstance(error, ProtocolError):
        outcome, response = error.error_code, answers.refuse_protocol(error)
    else:
        outcome, response = error.code, answers.refuse(error)
    admission.record_refusal(caller, action=ACTION, outcome=outcome)
    return response
