"""Third-party MCP clients against a running server."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection as database

from invoicing.models import User
from tests.agents import HttpAgent
from tests.https_server import HttpsServer
from tests.mcp_clients import node_packages, python_packages
from tests.mcp_clients.credential_proxy import Proxy, run_proxy
from tests.oauth.programs import Browser, parameters_of
from tests.tool_table import SCOPES

Decide = Callable[..., dict[str, str]]


def miss(what: str) -> None:
    if os.environ.get("REQUIRE_MCP_CLIENTS") == "1":
        pytest.fail(f"REQUIRE_MCP_CLIENTS=1, but: {what}")
    pytest.skip(what)


@pytest.fixture(scope="session")
def _node() -> None:
    if not node_packages.is_installed():
        miss(node_packages.ABSENT)


@pytest.fixture(scope="session")
def python_clients() -> None:
    """Skip the test, or fail, if the environment of the Python clients is not filled."""
    if not python_packages.is_installed():
        miss(python_packages.ABSENT)


@pytest.fixture
def node_environment(_node: None, https_server: HttpsServer, agent: HttpAgent) -> Mapping[str, str]:
    """The environment of a Node client: the server, its authority and the credential."""
    return {
        "NODE_EXTRA_CA_CERTS": str(https_server.authority),
        "MCP_URL": https_server.mcp_url,
        "CREDENTIAL": str(agent.credential),
    }


@pytest.fixture
def proxy(https_server: HttpsServer, agent: HttpAgent) -> Iterator[Proxy]:
    """A local HTTP proxy that adds the credential and speaks TLS to the server."""
    with run_proxy(https_server, str(agent.credential)) as running:
        yield running


@pytest.fixture
def proxied_url(_node: None, proxy: Proxy) -> str:
    """The URL of the proxy, for the clients of npm."""
    return proxy.url


@pytest.fixture
def decide(https_server: HttpsServer, sign_in_on: None, owner: User, delegate: User) -> Decide:
    """Return a function by which the owner allows a request, at most the scopes `lent`."""

    def allow(url: str, lent: Any = SCOPES) -> dict[str, str]:
        parts = urlsplit(url)
        try:
            browser = Browser(owner, host=parts.netloc)
            response = browser.allow(f"{parts.path}?{parts.query}", delegate, scopes=lent)
        finally:
            database.close()
        return parameters_of(response)

    return allow
