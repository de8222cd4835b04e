from agent_access.models.audit import ADMINISTRATION, AuditEvent, ChainHead, Transport
from agent_access.models.connections import Connection, ConnectionKind, RevokedReason
from agent_access.models.receipts import Receipt
from agent_access.models.settings import AccessSettings

__all__ = [
    "ADMINISTRATION",
    "AccessSettings",
    "AuditEvent",
    "ChainHead",
    "Connection",
    "ConnectionKind",
    "Receipt",
    "RevokedReason",
    "Transport",
]
