"""Agents at the addresses of a project's own viewset, where each call is a tool's."""

from collections.abc import Mapping
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any, ClassVar

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.generic import View
from rest_framework.request import Request
from rest_framework.settings import api_settings
from typing_extensions import override

from agent_access.admission import Admission
from agent_access.authentication import bears_credential
from agent_access.bodies import read_json
from agent_access.calls import ToolCall, ToolResult
from agent_access.errors import ForbiddenError, MethodNotAllowedError
from agent_access.execution import execute, find_tool_error
from agent_access.gate import refuse_as_json
from agent_access.http.actions import RENDERER, find_key_name
from agent_access.http.arguments import read_arguments
from agent_access.http.authentication import ACTION, NO_TOOL, admit, refuse
from agent_access.http.requests import CallRequest, arrived_at_view
from agent_access.http.viewset_tools import Terms, find_tool, tools_of
from agent_access.inputs import KEY_HEADER
from agent_access.models.audit import Transport

__all__ = ["AgentCalls"]

# The name under which REST framework's routers capture the suffix of a path, such as `.json`.
SUFFIX = str(api_settings.FORMAT_SUFFIX_KWARG)
# The beginning of a record's answer, which ends with a brace.
ENVELOPE = b'{"data":'
NOTHING = b"null"


class AgentCalls:
    """Comes before a viewset, whose actions it opens to connections on the `agent_terms`.

    A connection's request to such an action is a call of its tool, as over any other door: with
    the same checks, receipt and audit. It is answered by the data of the view's response, without
    an envelope. All other connections are refused. For everybody else nothing changes.
    """

    agent_terms: ClassVar[Mapping[str, Terms]] = {}

    @override
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        before = cls.__mro__[: cls.__mro__.index(AgentCalls)]
        if any(issubclass(each, View) and not issubclass(each, AgentCalls) for each in before):
            raise TypeError(f"{cls.__name__} must name AgentCalls before the classes of its view")

    def __init__(self, **initkwargs: Any) -> None:
        super().__init__(**initkwargs)
        self.initkwargs = initkwargs

    @classmethod
    def as_view(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the view, in no transaction of the request: a call begins its own."""
        view = super().as_view(*args, **kwargs)  # type: ignore[misc]  # of the viewset behind
        for alias in _atomic_databases():
            view = transaction.non_atomic_requests(using=alias)(view)
        return view

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if bears_credential(request):
            return _answer(self, request, kwargs)
        with ExitStack() as transactions:
            for alias in _atomic_databases():
                transactions.enter_context(transaction.atomic(using=alias))
            response: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]  # as above
            return response

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: FBT001, FBT002  REST framework's signature
        """Answer a call in JSON, whatever its Accept says."""
        if isinstance(request, CallRequest):
            return RENDERER, RENDERER.media_type
        return super().perform_content_negotiation(request, force)  # type: ignore[misc]  # as above


def _atomic_databases() -> list[str]:
    return [alias for alias, each in settings.DATABASES.items() if each.get("ATOMIC_REQUESTS")]


def _answer(view: Any, request: HttpRequest, kwargs: Mapping[str, Any]) -> HttpResponse:
    admission = Admission(request, transport=Transport.HTTP)
    try:
        response = _describe(_call(view, request, kwargs, admission=admission))
    except Exception as exception:  # noqa: BLE001  the last handler: every failure gets an answer
        response = refuse_as_json(find_tool_error(exception))
    for name, value in admission.headers.items():
        response[name] = value
    response["Cache-Control"] = "no-store"
    return response


def _call(
    view: Any, request: HttpRequest, captured: Mapping[str, Any], *, admission: Admission
) -> ToolResult:
    actions = getattr(view, "action_map", {})
    view.action = actions.get(str(request.method).lower())
    tool = find_tool(view)
    name = tool.name if tool else ACTION
    caller = admit(admission, request, action=name)
    methods = {each.method for each in map(tools_of(type(view)).get, actions.values()) if each}
    if methods and (view.action is None or (tool and tool.method != request.method)):
        refuse(admission, MethodNotAllowedError(sorted(methods)), action=name)
    # An address that names more than the record is another than that of the tool.
    target = {key: value for key, value in captured.items() if key != SUFFIX}
    if tool is None or [*target] != ([find_key_name(view)] if tool.takes_target else []):
        refuse(admission, ForbiddenError(NO_TOOL), action=name)
    call = ToolCall(
        tool=tool,
        caller=caller,
        origin=admission.origin,
        read_arguments=lambda: read_arguments(request, tool, read_body=lambda: read_json(request)),
        target=next(map(str, target.values()), None),
        idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
        key_field=KEY_HEADER,
    )
    with arrived_at_view(request, options=view.initkwargs):
        return execute(call)


def _describe(result: ToolResult) -> HttpResponse:
    """Return what the view would answer: its data, without the envelope of a tool's answer."""
    data = result.body.removeprefix(ENVELOPE).removesuffix(b"}")
    if data == NOTHING:
        return HttpResponse(status=HTTPStatus.NO_CONTENT, headers=result.headers)
    return HttpResponse(
        data, status=result.status, headers=result.headers, content_type="application/json"
    )
