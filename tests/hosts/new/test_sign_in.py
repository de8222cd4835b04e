"""The same project with browser sign-in: the consent page in a frame that is nobody's."""

import re

import pytest

from config.environment import PROJECT_FOLDER
from tests.hosts.new.conftest import NO_MISTAKES, PASSWORD
from tests.hosts.new.visitors import RESOURCE, Browser, Client

# What the two apps do on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "notes.settings_with_sign_in"


def test_the_owner_of_another_project_lets_a_client_in(project):
    assert project.find_mistakes() == NO_MISTAKES
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
    assert [tool["name"] for tool in tools] == ["notes_list", "notebook_list"]
    wider = {"name": "notes_write", "arguments": {"text": "Milk", "idempotency_key": "key"}}
    read = project.request("GET", "/api/v1/notes", headers=agent)
    assert (read.status, read.body) == (200, {"data": [], "next": None})
    refused = project.call_mcp("tools/call", wider, headers=agent)
    assert refused.status == 403
    assert 'scope="notes:read notes:write"' in refused.headers["WWW-Authenticate"]

    project.manage("browser_sign_in", "off")
    assert project.call_mcp("tools/list", {}, headers=agent).status == 401


PAGES = ("accesssettings", "connection", "receipt", "auditevent")
ADMIN = "/admin/agent_access"


def test_the_owners_pages_work_and_have_a_style_in_djangos_own_administration(project):
    browser = Browser(project)
    browser.submit("/sign-in", {"username": "olga", "password": PASSWORD})
    paths = [f"{ADMIN}/{name}/" for name in PAGES]
    paths += [f"{ADMIN}/connection/add/", "/admin/agent_oauth/application/", "/admin/"]
    for path in paths[:-1]:
        page = browser.open(path)
        text = page.content.decode()
        assert (path, page.status) == (path, 200)
        assert "/static/agent_access/desk.css" in text
        # Each page leads to all others, as the list of connections does to the form of a new one.
        assert {each for each in paths if f'href="{each}"' not in text} <= {paths[4]}
    style = (PROJECT_FOLDER / "agent_access/static/agent_access/desk.css").read_text()
    assert ".tag" in style


def test_the_owner_makes_a_connection_and_ends_it_in_djangos_own_administration(project):
    browser = Browser(project)
    browser.submit("/sign-in", {"username": "olga", "password": PASSWORD})
    form = browser.open(f"{ADMIN}/connection/add/").content.decode()
    [once] = re.findall(r'name="once" value="([^"]+)"', form)
    [nora] = re.findall(r'<option value="([0-9a-f-]{36})">nora \(nora\)', form)
    asked = {
        "name": "Desk agent",
        "acts_as": nora,
        "scopes": ["notes:read"],
        "expires_in_days": "7",
        "once": once,
    }
    made = browser.submit(f"{ADMIN}/connection/add/", asked)
    text = made.content.decode()
    assert made.status == 200
    [credential] = re.findall(r'value="(ivc_[\w-]{43})"', text)
    agent = {"Authorization": f"Bearer {credential}"}
    assert project.request("GET", "/api/v1/notes", headers=agent).status == 200
    [page] = re.findall(rf'href="({ADMIN}/connection/[0-9a-f-]+/)"', text)
    shown = browser.open(page)
    assert shown.status == 200
    assert "Acts as" in shown.content.decode()
    pk = page.rsplit("/", 2)[1]
    ended = browser.submit(f"{ADMIN}/connection/revoke/?id={pk}", {"id": pk})
    assert ended.status == 302
    assert project.request("GET", "/api/v1/notes", headers=agent).status == 401
