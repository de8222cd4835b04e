"""The paths of browser sign-in, exactly as the interface has them."""

from agent_access.discovery import RESOURCE_METADATA_PATH, RESOURCE_PATH

ROOT_RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"
SERVER_METADATA_PATH = "/.well-known/oauth-authorization-server"
# Some clients, ChatGPT for one, put the resource's path behind it, as if it were the issuer's.
LONG_SERVER_METADATA_PATH = SERVER_METADATA_PATH + RESOURCE_PATH
# Not here: clients that find no metadata elsewhere ask for it, and read the answer as JSON.
OPENID_METADATA_PATH = "/.well-known/openid-configuration"
REGISTER_PATH = "/oauth/register"
AUTHORIZE_PATH = "/oauth/authorize"
TOKEN_PATH = "/oauth/token"  # noqa: S105  a path
REVOKE_PATH = "/oauth/revoke"

# Programs call these; people open the remaining one.
MACHINE_PATHS = (
    RESOURCE_METADATA_PATH,
    ROOT_RESOURCE_METADATA_PATH,
    SERVER_METADATA_PATH,
    OPENID_METADATA_PATH,
    REGISTER_PATH,
    TOKEN_PATH,
    REVOKE_PATH,
)
