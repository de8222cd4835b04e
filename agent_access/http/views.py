"""The HTTP tools: one view of REST framework for every path."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView
from typing_extensions import override

from agent_access import errors
from agent_access.admission import Admission
from agent_access.calls import Arguments, ToolCall
from agent_access.execution import execute
from agent_access.http.arguments import read_arguments
from agent_access.http.authentication import BearerAuthentication
from agent_access.http.exceptions import exception_handler
from agent_access.http.parsers import StrictJSONParser
from agent_access.http.renderers import NoNegotiation, ToolRenderer
from agent_access.http.requests import ToolRequest
from agent_access.http.throttles import AddressThrottle, ConnectionThrottle
from agent_access.inputs import KEY_HEADER
from agent_access.models.audit import Transport
from agent_access.tools import Tool


class ToolView(APIView):
    """Answers one path; `tools` are its tools by HTTP method, none where the path is unknown.

    Every policy is set here, so that a project's REST_FRAMEWORK setting changes no answer.
    """

    tools: Mapping[str, Tool] = {}

    address_throttle_class = AddressThrottle
    authentication_classes = [BearerAuthentication]
    throttle_classes = [ConnectionThrottle]
    permission_classes: Sequence[type[BasePermission]] = []
    parser_classes = [StrictJSONParser]
    renderer_classes = [ToolRenderer]
    content_negotiation_class = NoNegotiation
    metadata_class = None
    versioning_class = None
    schema = None
    format_kwarg = None  # no suffix of a path has a say either
    default_response_headers: Mapping[str, str] = {}  # no Allow, no Vary

    @override
    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> ToolRequest:
        tool_request = ToolRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
        )
        self.admission = tool_request.admission = Admission(request, transport=Transport.HTTP)
        return tool_request

    @override
    def initial(self, request: ToolRequest, *args: Any, **kwargs: Any) -> None:
        """Run the checks before a tool in the interface's order, which is not REST framework's.

        The body is left for `execute`, which audits that it could not be read.
        """
        self.admission.require_access_on()
        self.tool = self.find_tool(request)
        self.check_address(request)
        self.perform_authentication(request)
        self.check_throttles(request)
        self.check_permissions(request)

    def find_tool(self, request: ToolRequest) -> Tool:
        """Return the tool; raise NotFoundError or MethodNotAllowedError if there is none."""
        if not self.tools:
            raise errors.NotFoundError
        tool = self.tools.get(request.method)
        if tool is None:
            raise errors.MethodNotAllowedError(sorted(self.tools))
        return tool

    def check_address(self, request: ToolRequest) -> None:
        """Refuse who calls too often before asking who it is."""
        throttle = self.address_throttle_class()
        if not throttle.allow_request(request, self):
            self.throttled(request, throttle.wait())

    def call(self, request: ToolRequest, target: str | None = None) -> Response:
        result = execute(
            ToolCall(
                tool=self.tool,
                caller=request.auth,
                origin=self.admission.origin,
                read_arguments=lambda: self.read_arguments(request),
                target=target,
                idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
                key_field=KEY_HEADER,
            )
        )
        return Response(result.body, status=result.status, headers=result.headers)

    # Whatever `initial` lets pass. It refuses HEAD, for which Django would make one of GET.
    get = head = post = put = patch = delete = call

    def read_arguments(self, request: ToolRequest) -> Arguments:
        """Return the query, or the body as the parser reads it."""
        return read_arguments(request, self.tool, read_body=lambda: request.data)

    @override
    def get_exception_handler(self) -> Callable[[Exception, Mapping[str, Any]], Response]:
        return exception_handler

    @override
    def finalize_response(
        self, request: ToolRequest, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Render the answer, since the gate does not, with what is left of the limits.

        Then view, request and answer no longer refer to each other, so that all are free at once
        and not when the collector comes.
        """
        self.headers = self.admission.headers
        finished = super().finalize_response(request, response, *args, **kwargs).render()
        finished.renderer_context = {}
        request.parser_context.clear()
        return finished
