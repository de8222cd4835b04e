"""The owner's section of the admin; importing it registers its pages."""

from agent_access.admin import connections, events, front, receipts

__all__ = ["connections", "events", "front", "receipts"]
