"""The same project with browser sign-in: the consent page in a frame that is nobody's."""

import re
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from typing_extensions import override

from tests.agents import Answer
from tests.oauth.programs import Program
from tests.other_project.conftest import BASE_URL, PASSWORD, Project

# What the two apps do on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "notes.settings_with_sign_in"

RESOURCE = f"{BASE_URL}/mcp"


class Client(Program):
    """A client of the other project, which it calls over its socket."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        metadata = {"client_name": "Scribe", "redirect_uris": [self.return_address]}
        self.client_id = self.post_json("/oauth/register", metadata).body["client_id"]

    @override
    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        content_type: str = "application/json",
        **_: Any,
    ) -> Answer:
        return self.project.request(method, path, body, headers={"Content-Type": content_type})


class Browser:
    """Keeps cookies, and answers forms as the owner."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.cookies = SimpleCookie()

    def open(self, path):
        return self._keep(self.project.request("GET", path, headers=self._headers()))

    def submit(self, path, fields):
        """Post the form that the page at this path holds."""
        page = self.open(path).content.decode()
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        body = urlencode({"csrfmiddlewaretoken": token} | fields, doseq=True).encode()
        headers = self._headers() | {
            "Content-Type": "application/x-www-form-urlencoded",
            "Referer": BASE_URL + path,
        }
        return self._keep(self.project.request("POST", path, body, headers=headers))

    def _headers(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={each.value}" for name, each in self.cookies.items())}

    def _keep(self, answer: Answer) -> Answer:
        self.cookies.load(answer.headers.get("Set-Cookie", ""))
        return answer


def test_the_owner_of_another_project_lets_a_client_in(project):
    project.manage("check", "--fail-level", "WARNING", "--database", "default")
    project.manage("browser_sign_in", "on")
    client, browser = Client(project), Browser(project)
    path = client.authorize_path(scope="notes:read notes:write", state=None, resource=RESOURCE)

    sent_away = browser.open(path)
    assert (sent_away.status, urlsplit(sent_away.headers["Location"]).path) == (302, "/sign-in")
    olga = {"username": "olga", "password": PASSWORD}
    signed_in = browser.submit(sent_away.headers["Location"], olga)
    assert (signed_in.status, signed_in.headers["Location"]) == (302, path)

    page = browser.open(path)
    text = page.content.decode()
    assert page.status == 200
    assert re.search(r"<title>\s*Allow access\?\s*</title>", text)
    assert "Read your notes." in text
    assert "nvoic" not in text
    mistaken = browser.submit(path, {"decision": "allow"}).content.decode()
    assert re.search(r"<title>\s*Please correct:\s+Allow access\?\s*</title>", mistaken)
    [nora] = re.findall(r'<option value="([0-9a-f-]{36})">nora \(nora\)', text)
    chosen = {"acts_as": nora, "scopes": ["notes:read"], "expires_in_days": "7"}
    allowed = browser.submit(path, chosen | {"decision": "allow"})
    assert allowed.status == 302
    [code] = parse_qs(urlsplit(allowed.headers["Location"]).query)["code"]

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
