"""What the owner lends on the consent page."""

from dataclasses import dataclass
from uuid import UUID

from agent_access.connections import ConnectingClient, ConnectionRequest


@dataclass(frozen=True)
class Allowed:
    """For the validator, which makes the connection with the code."""

    request: ConnectionRequest
    client: ConnectingClient
    connection_id: UUID
    owner_id: UUID
