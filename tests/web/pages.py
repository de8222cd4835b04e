"""The pages for people, read from the routes."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from agent_access.tools import API_PATH
from mcp_gateway.endpoint import ENDPOINT_PATH

# The tools authenticate by credential; the authorization server (tests/oauth) and the
# administration (tests/admin) guard themselves.
OTHER_ROUTES = (API_PATH.lstrip("/"), ENDPOINT_PATH.lstrip("/"), ".well-known/", "oauth/", "admin")


def all_pages() -> list[URLPattern]:
    def walk(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
        for each in patterns:
            if str(each.pattern).lstrip("^").startswith(OTHER_ROUTES):
                continue
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns)
            else:
                yield each

    # The page of an account has the name of each part that it shows.
    return [*{name_of(each): each for each in walk(get_resolver().url_patterns)}.values()]


def name_of(route: URLPattern) -> str:
    return f"{route.pattern} {route.name}"


OPEN = {
    *("sign-in", "sign-in-with-passkey", "passkey-options", "set-password"),
    *("service-worker", "link", "link-options"),
}


def path_of(route: URLPattern, pk: object) -> str:
    """Return the address of a page, about the record with this ID if it is about one."""
    path = str(route.pattern).replace("<agent_access_id:pk>", str(pk))
    return "/" + path.replace("<slug:digest>", "a" * 64)
