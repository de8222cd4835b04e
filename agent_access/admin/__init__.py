"""The owner's section of the admin; importing it registers its pages."""

from agent_access.admin import connections, events, receipts, settings

__all__ = ["connections", "events", "receipts", "settings"]
