"""The addresses of browser sign-in, from where the project includes its routes."""

from django.urls import Resolver404, resolve

from agent_access import addresses, conf
from agent_access.discovery import RESOURCE_METADATA_PATH, resource_path

APP = "agent_oauth_documents"

REGISTER = "agent_oauth:register"
AUTHORIZE = "agent_oauth:authorize"
ACCESS_REQUEST = "agent_oauth:access-request"
ACCESS_REQUEST_STATE = "agent_oauth:access-request-state"
TOKEN = "agent_oauth:token"  # noqa: S105  a route
REVOKE = "agent_oauth:revoke"

# Below the place where the project includes the routes, as the interface has them.
AUTHORIZE_PATH = "/oauth/authorize"

SERVER_METADATA_PATH = "/.well-known/oauth-authorization-server"
# Not served: clients that find no metadata elsewhere ask for it, and read the answer as JSON.
OPENID_METADATA_PATH = "/.well-known/openid-configuration"


def issuer() -> str:
    """Return who issues tokens: BASE_URL, with the path below which the routes are included."""
    return conf.base_url() + issuer_path()


def issuer_path() -> str:
    return addresses.path_of(AUTHORIZE).removesuffix(AUTHORIZE_PATH)


def resource_suffixes() -> tuple[str, ...]:
    """Return what may follow the well-known path of the resource: its own path, or nothing."""
    return ("", resource_path())


def server_suffixes() -> tuple[str, ...]:
    """Return what may follow the well-known path of the server (RFC 8414 section 3.1).

    Some clients, ChatGPT for one, put the resource's path there, as if it were the issuer's.
    """
    return (issuer_path(), resource_path())


def machine_paths() -> list[str]:
    """Return the paths that programs call, with all below them; people open the remaining one."""
    routes = [addresses.find_path(name) for name in (REGISTER, TOKEN, REVOKE)]
    if None in routes:
        return []
    documents = [
        *(RESOURCE_METADATA_PATH + suffix for suffix in resource_suffixes()),
        *(SERVER_METADATA_PATH + suffix for suffix in server_suffixes()),
        OPENID_METADATA_PATH,
    ]
    return [path for path in (*routes, *filter(_is_free, documents)) if path]


def _is_free(path: str) -> bool:
    """Return whether no view of the project's own answers at this path."""
    try:
        return APP in resolve(path).app_names
    except Resolver404:
        return True
