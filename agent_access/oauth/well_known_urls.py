"""The metadata documents, which a project includes at its root: `path("", include(...))`.

Their addresses end with the paths of what they describe, wherever that is included (RFC 8414
section 3.1, RFC 9728 section 3.1).
"""

from collections.abc import Callable

from django.urls import path, register_converter

from agent_access.discovery import RESOURCE_METADATA_PATH
from agent_access.oauth import paths
from agent_access.oauth.discovery import describe_resource, describe_server


class _Suffix:
    """The end of an address that names what a document describes; any other does not match."""

    regex = ".*"
    allowed: Callable[[], tuple[str, ...]]

    def to_python(self, value: str) -> str:
        if value not in type(self).allowed():
            raise ValueError("not what a document describes")
        return value

    def to_url(self, value: str) -> str:
        return value


class _ResourceSuffix(_Suffix):
    allowed = staticmethod(paths.resource_suffixes)


class _ServerSuffix(_Suffix):
    allowed = staticmethod(paths.server_suffixes)


register_converter(_ResourceSuffix, "agents_resource")
register_converter(_ServerSuffix, "agents_server")

app_name = paths.APP

urlpatterns = [
    path(f"{RESOURCE_METADATA_PATH[1:]}<agents_resource:of>", describe_resource),
    path(f"{paths.SERVER_METADATA_PATH[1:]}<agents_server:of>", describe_server),
]
