"""The addresses that agents call, from where the project includes the routes of this app.

A path here includes the script prefix, as `reverse()` has it; BASE_URL has no path.
"""

from functools import lru_cache

from django.conf import settings
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse
from django.utils.translation import get_language

from agent_access import conf

API = "agent_access:root"
MCP = "mcp_gateway:endpoint"


def path_of(name: str) -> str:
    """Return the path of a route; raise NoReverseMatch where the project does not include it."""
    if (path := find_path(name)) is None:
        raise NoReverseMatch(f"No urls of this project include {name}.")
    return path


def url_of(name: str) -> str:
    """Return the absolute address of a route; raise NoReverseMatch as `path_of` does."""
    return conf.base_url() + path_of(name)


def find_path(name: str) -> str | None:
    """Return the path of a route, or None where the project does not include it."""
    root: str = settings.ROOT_URLCONF
    return _find_path(name, get_urlconf() or root, root, get_script_prefix(), get_language())


@lru_cache(maxsize=256)
def _find_path(name: str, urlconf: str, root: str, prefix: str, language: str) -> str | None:
    """Look in the urls of the current request, then in the project's; the answer is kept."""
    for routes in (urlconf, root):
        try:
            return reverse(name, routes)
        except NoReverseMatch:
            continue
    return None
