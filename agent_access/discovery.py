"""Where clients learn how to sign in: the resource, its metadata, and what a challenge says."""

from agent_access import conf
from agent_access.tools import API_PATH, registry

RESOURCE_PATH = "/mcp"
RESOURCE_METADATA_PATH = f"/.well-known/oauth-protected-resource{RESOURCE_PATH}"


def resource() -> str:
    """Return the one resource that tokens are for. Interface: "`{base_url}/mcp`"."""
    return conf.base_url() + RESOURCE_PATH


def addresses() -> dict[str, str]:
    """Return where clients send their calls, for the owner's pages."""
    return {"mcp_address": resource(), "api_address": conf.base_url() + API_PATH}


def challenge_parameters() -> dict[str, str]:
    """Return what a WWW-Authenticate challenge tells a client that can sign in (RFC 9728 5.1)."""
    return {
        "scope": " ".join(registry.scopes),
        "resource_metadata": conf.base_url() + RESOURCE_METADATA_PATH,
    }
