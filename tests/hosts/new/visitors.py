"""Who comes to another project to sign in: a client, and its owner's browser."""

import re
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from typing_extensions import override

from tests.agents import Answer
from tests.hosts.new.conftest import BASE_URL, PASSWORD, Project
from tests.oauth.programs import Program

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
        token, *_ = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        asked = {"csrfmiddlewaretoken": token, "own_password": PASSWORD}
        body = urlencode(asked | fields, doseq=True).encode()
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

    def sign_in(self, path: str) -> None:
        """Open a page that sends to the sign-in page, and sign in there as the owner."""
        sent_away = self.open(path)
        assert (sent_away.status, urlsplit(sent_away.headers["Location"]).path) == (302, "/sign-in")
        olga = {"username": "olga", "password": PASSWORD}
        signed_in = self.submit(sent_away.headers["Location"], olga)
        assert (signed_in.status, signed_in.headers["Location"]) == (302, path)

    def allow(self, path: str, *scopes: str) -> str:
        """Allow what the page at this path asks for, to act as nora; return the code."""
        text = self.open(path).content.decode()
        [nora] = re.findall(r'<option value="([0-9a-f-]{36})">nora \(nora\)', text)
        chosen = {"acts_as": nora, "scopes": scopes, "expires_in_days": "7", "decision": "allow"}
        allowed = self.submit(path, chosen)
        assert allowed.status == 302
        code: str
        [code] = parse_qs(urlsplit(allowed.headers["Location"]).query)["code"]
        return code
