from django.contrib.admin.apps import AdminConfig
from typing_extensions import override


class OwnersAdminConfig(AdminConfig):
    """Django's admin on a site that knows the owner."""

    default_site = "agent_access.admin_site.OwnersAdminSite"

    @override
    def ready(self) -> None:
        super().ready()
        from config import checks  # noqa: F401, PLC0415  the registry is ready only now
