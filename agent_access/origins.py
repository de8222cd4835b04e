"""Where a web request comes from, as the audit names it."""

from django.http import HttpRequest

from agent_access.audit import Origin
from agent_access.gate import client_address
from agent_access.models.audit import Transport
from agent_access.request_ids import current_request_id


def make_origin(request: HttpRequest, transport: Transport) -> Origin:
    return Origin(
        transport=transport,
        request_id=current_request_id(),
        client_address=client_address(request),
    )
