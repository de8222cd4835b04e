"""Where the web request in hand comes from, as the audit names it."""

from agent_access.audit import Origin
from agent_access.models.audit import Transport
from agent_access.request_facts import current_facts
from agent_access.request_ids import current_request_id


def make_origin(transport: Transport) -> Origin:
    """Return the origin of the request that the gate let in."""
    return Origin(
        transport=transport,
        request_id=current_request_id(),
        client_address=current_facts().client_address,
    )
