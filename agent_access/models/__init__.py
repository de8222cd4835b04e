from agent_access.models.audit import (
    ADMINISTRATION,
    ArchiveMark,
    AuditEvent,
    ChainHead,
    Transport,
)
from agent_access.models.connections import Connection, ConnectionKind, RevokedReason
from agent_access.models.receipts import Receipt
from agent_access.models.settings import AccessSettings

__all__ = [
    "ADMINISTRATION",
    "AccessSettings",
    "ArchiveMark",
    "AuditEvent",
    "ChainHead",
    "Connection",
    "ConnectionKind",
    "Receipt",
    "RevokedReason",
    "Transport",
]
