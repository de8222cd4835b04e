from django.contrib.admin.apps import AdminConfig


class OwnersAdminConfig(AdminConfig):
    """Django's admin on a site that knows the owner."""

    default_site = "agent_access.admin_site.OwnersAdminSite"
