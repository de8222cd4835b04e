from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.gate import register_paths
from agent_access.oauth.paths import machine_paths
from agent_access.oauth.refusals import refuse
from agent_access.waiting import subjects


class OAuthConfig(AppConfig):
    name = "agent_access.oauth"
    label = "agent_oauth"
    verbose_name = _("Browser sign-in")

    @override
    def ready(self) -> None:
        from agent_access.authentication import register_bearer  # noqa: PLC0415  models must be loaded first
        from agent_access.oauth import asking  # noqa: PLC0415  as above
        from agent_access.oauth.tokens import ACCESS_TOKEN, find_by_access_token  # noqa: PLC0415  as above

        register_bearer(ACCESS_TOKEN, find_by_access_token)
        subjects[asking.SUBJECT] = asking.AccessRequests()
        register_paths(machine_paths, refuse)
