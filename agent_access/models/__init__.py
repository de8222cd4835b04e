from agent_access.models.audit import AuditEvent, ChainHead
from agent_access.models.connections import Connection
from agent_access.models.receipts import Receipt
from agent_access.models.settings import AccessSettings

__all__ = ["AccessSettings", "AuditEvent", "ChainHead", "Connection", "Receipt"]
