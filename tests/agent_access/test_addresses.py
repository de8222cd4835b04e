"""Agents are answered where a project includes them, and told no other address."""

import json
from typing import Any

import pytest
from django.test.utils import override_script_prefix

from agent_access.openapi import describe_api

# Addresses depend on no database.
pytestmark = pytest.mark.sqlite

BASE = "https://invoices.example"
MIDDLEWARE = ["agent_access.gate.GateMiddleware", "agent_access.gate.ToolMiddleware"]


@pytest.fixture(autouse=True)
def _below(settings) -> None:
    settings.ROOT_URLCONF = "tests.agent_access.routes.below"
    settings.MIDDLEWARE = MIDDLEWARE
    settings.AGENT_ACCESS |= {"GUARDS_WHOLE_SITE": False}


@pytest.fixture(params=["", "/app"])
def prefix(request):
    """Where the project is served, as FORCE_SCRIPT_NAME says; a server's handler sets it so."""
    with override_script_prefix(f"{request.param}/"):
        yield request.param


def get(agent, path):
    """Return the answer, which no document of the interface has at this address."""
    return agent._client.get(
        path,
        secure=True,
        headers={"Host": "invoices.example", "Authorization": f"Bearer {agent.credential}"},
    )


def test_the_tools_answer_below_the_path_and_say_so(agent, prefix):
    listed = get(agent, "/agents/api/v1/tools")
    assert listed.status_code == 200
    paths = {tool["path"] for tool in listed.json()["data"]}
    assert {path[: len(f"{prefix}/agents/api/v1/")] for path in paths} == {
        f"{prefix}/agents/api/v1/"
    }
    assert get(agent, "/agents/api/v1/nowhere").json()["error"]["code"] == "not_found"
    assert get(agent, "/agents/api/v1").json()["error"]["code"] == "not_found"
    assert get(agent, "/agents/mcp").status_code == 405


def test_the_projects_own_pages_are_where_the_tools_would_be(agent):
    page = get(agent, "/api/v1/tools")
    assert (page.status_code, page.content) == (200, b"A page for .")
    assert get(agent, "/mcp").status_code == 404


def test_every_document_of_browser_sign_in_names_the_addresses_below_the_path(
    client, sign_in_on, prefix
):
    def read(path: str) -> Any:
        answer = client.get(path, secure=True, headers={"Host": "invoices.example"})
        return json.loads(answer.content)

    place = f"{BASE}{prefix}/agents"
    for suffix in ("", f"{prefix}/agents/mcp"):
        described = read(f"/.well-known/oauth-protected-resource{suffix}")
        assert described["resource"] == f"{place}/mcp"
        assert described["authorization_servers"] == [place]
    for suffix in (f"{prefix}/agents", f"{prefix}/agents/mcp"):
        described = read(f"/.well-known/oauth-authorization-server{suffix}")
        told = {key: value for key, value in described.items() if str(value).startswith(BASE)}
        assert told == {
            "issuer": place,
            "authorization_endpoint": f"{place}/oauth/authorize",
            "token_endpoint": f"{place}/oauth/token",
            "registration_endpoint": f"{place}/oauth/register",
            "revocation_endpoint": f"{place}/oauth/revoke",
        }


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/agents/other",
        "/.well-known/oauth-protected-resource/agents",
    ],
)
def test_no_document_describes_another_place(client, sign_in_on, path):
    answer = client.get(path, secure=True, headers={"Host": "invoices.example"})
    assert answer.status_code == 404


def test_a_challenge_names_the_document_of_this_place(sign_in_on, client, prefix):
    answer = client.post(
        "/agents/mcp",
        b"{}",
        "application/json",
        secure=True,
        headers={"Host": "invoices.example"},
    )
    document = f"{BASE}/.well-known/oauth-protected-resource{prefix}/agents/mcp"
    assert answer.status_code == 401
    assert f'resource_metadata="{document}"' in answer.headers["WWW-Authenticate"]


def test_the_openapi_document_has_the_paths_below_the_path():
    assert {path[:15] for path in describe_api()["paths"]} == {"/agents/api/v1/"}


def test_the_project_keeps_a_document_of_its_own(client, sign_in_on):
    headers = {"Host": "invoices.example", "Origin": "https://other.example"}
    answer = client.get("/.well-known/openid-configuration", secure=True, headers=headers)
    assert (answer.status_code, answer.content) == (200, b"A page for .")
