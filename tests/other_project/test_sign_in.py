"""The same project with browser sign-in: the consent page in a frame that is nobody's."""

import re

import pytest

from tests.other_project.visitors import RESOURCE, Browser, Client

# What the two apps do on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "notes.settings_with_sign_in"


def test_the_owner_of_another_project_lets_a_client_in(project):
    project.manage("check", "--fail-level", "WARNING", "--database", "default")
    project.manage("browser_sign_in", "on")
    client, browser = Client(project), Browser(project)
    path = client.authorize_path(scope="notes:read notes:write", state=None, resource=RESOURCE)

    browser.sign_in(path)
    page = browser.open(path)
    text = page.content.decode()
    assert page.status == 200
    assert re.search(r"<title>\s*Allow access\?\s*</title>", text)
    assert "Read your notes." in text
    assert "nvoic" not in text
    mistaken = browser.submit(path, {"decision": "allow"}).content.decode()
    assert re.search(r"<title>\s*Please correct:\s+Allow access\?\s*</title>", mistaken)

    code = browser.allow(path, "notes:read")
    tokens = client.exchange(code, resource=RESOURCE).body
    agent = {"Authorization": f"Bearer {tokens['access_token']}"}
    tools = project.call_mcp("tools/list", {}, headers=agent).body["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["notes_list"]
    wider = {"name": "notes_write", "arguments": {"text": "Milk", "idempotency_key": "key"}}
    refused = project.call_mcp("tools/call", wider, headers=agent)
    assert refused.status == 403
    assert 'scope="notes:read notes:write"' in refused.headers["WWW-Authenticate"]

    project.manage("browser_sign_in", "off")
    assert project.call_mcp("tools/list", {}, headers=agent).status == 401
