"""Where clients learn how to sign in: the resource, its metadata, and what a challenge says."""

from agent_access import addresses, conf
from agent_access.tools import registry

# RFC 9728 section 3.1: the resource's own path follows.
RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"


def resource() -> str:
    """Return the one resource that tokens are for. Interface: "`{base_url}/mcp`"."""
    return conf.base_url() + resource_path()


def resource_path() -> str:
    """Return the path of the MCP endpoint, or of the HTTP tools where a project has no other."""
    return addresses.find_path(addresses.MCP) or addresses.path_of(addresses.API)


def tell_addresses() -> dict[str, str]:
    """Return where clients send their calls, for the owner's pages; empty where there is none."""
    paths = {"mcp_address": addresses.MCP, "api_address": addresses.API}
    found = {name: addresses.find_path(route) for name, route in paths.items()}
    return {name: conf.base_url() + path if path else "" for name, path in found.items()}


def challenge_parameters() -> dict[str, str]:
    """Return what a WWW-Authenticate challenge tells a client that can sign in (RFC 9728 5.1)."""
    return {
        "scope": " ".join(registry.scopes),
        "resource_metadata": conf.base_url() + RESOURCE_METADATA_PATH + resource_path(),
    }
