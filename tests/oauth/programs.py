"""A client program and the owner's browser, as the interface describes them."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client

from agent_access.oauth.client_metadata import ClientMetadata
from agent_access.oauth.endpoints import FORM
from agent_access.oauth.models import Application
from agent_access.oauth.registration import client_fields
from invoicing.models import User
from tests.agents import HOST, Answer, read_answer
from tests.factories import PASSWORD, give_password

BASE_URL = f"https://{HOST}"
RESOURCE = f"{BASE_URL}/mcp"
RETURN_ADDRESS = "https://client.example/callback"
VERIFIER = "a-verifier-of-at-least-forty-three-characters-0"


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class Machine:
    """Calls the endpoints for programs; never has a cookie."""

    address: str = "192.0.2.1"

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        **environ: Any,
    ) -> Answer:
        sent = {"Host": HOST, **(headers or {})}
        facts = {"REMOTE_ADDR": self.address, "CONTENT_TYPE": content_type, **environ}
        send = Client().generic
        return read_answer(
            send(method, path, body, content_type, secure=True, headers=sent, **facts)
        )

    def post_json(self, path: str, value: Any, **more: Any) -> Answer:
        return self.send("POST", path, json.dumps(value).encode(), **more)

    def post_form(self, path: str, fields: Mapping[str, Any], **more: Any) -> Answer:
        sent = {name: value for name, value in fields.items() if value is not None}
        body = urlencode(sent, doseq=True).encode()
        return self.send("POST", path, body, content_type=FORM, **more)


@dataclass
class Program(Machine):
    """A registered public client. What a test names None is left out."""

    client_id: str = ""
    return_address: str = RETURN_ADDRESS
    verifier: str = VERIFIER

    def authorize_path(self, **overrides: Any) -> str:
        fields = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.return_address,
            "scope": "customers:read invoices:read",
            "state": "a state",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": RESOURCE,
        }
        sent = {name: value for name, value in (fields | overrides).items() if value is not None}
        return f"/oauth/authorize?{urlencode(sent, doseq=True)}"

    def exchange(self, code: str, /, **overrides: Any) -> Answer:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.return_address,
            "client_id": self.client_id,
            "code_verifier": self.verifier,
            "resource": RESOURCE,
        }
        return self.post_form("/oauth/token", fields | overrides)

    def refresh(self, token: str, **overrides: Any) -> Answer:
        fields = {
            "grant_type": "refresh_token",
            "refresh_token": token,
            "client_id": self.client_id,
            "resource": RESOURCE,
        }
        return self.post_form("/oauth/token", fields | overrides)

    def revoke(self, token: str, **overrides: Any) -> Answer:
        fields = {"token": token, "client_id": self.client_id}
        return self.post_form("/oauth/revoke", fields | overrides)


def make_program(*addresses: str, name: str = "Ledger agent", **fields: Any) -> Program:
    """Return a program that has registered itself with these return addresses."""
    columns = client_fields(ClientMetadata(name, addresses)) | fields
    client = Application.objects.create(registration_source="dcr", **columns)
    return Program(client_id=str(client.client_id), return_address=addresses[0])


def answer_of(acts_as: User, *, scopes: Any = ("customers:read",), days: Any = 30) -> Any:
    """Return the fields with which the consent form allows what was asked."""
    return {
        "decision": "allow",
        "acts_as": acts_as.pk,
        "scopes": list(scopes),
        "expires_in_days": days,
    }


REFUSAL = {"decision": "refuse"}


@dataclass
class Browser:
    """A person's browser: signed in, or not."""

    person: User | None = None
    host: str = HOST
    client: Client = field(default_factory=Client)

    def __post_init__(self) -> None:
        if self.person is not None:
            give_password(self.person)
            self.client.force_login(self.person)

    def open(self, path: str, **more: Any) -> Any:
        return self.client.get(path, secure=True, headers={"Host": self.host}, **more)

    def send(self, path: str, fields: Mapping[str, Any], **headers: str) -> Any:
        """Send a form, confirmed with PASSWORD unless its fields say otherwise."""
        password = fields.get("own_password") or PASSWORD
        body = urlencode({**fields, "own_password": password}, doseq=True)
        sent = {"Host": self.host, **headers}
        return self.client.post(path, body, content_type=FORM, secure=True, headers=sent)

    def allow(
        self,
        path: str,
        acts_as: User,
        *,
        scopes: Any = ("customers:read", "invoices:read"),
        days: Any = 30,
    ) -> Any:
        return self.send(path, answer_of(acts_as, scopes=scopes, days=days))


def refusal_of(answer: Answer) -> tuple[int, str]:
    """Return the status, and OAuth's word for what is wrong."""
    return answer.status, answer.body["error"]


def parameters_of(response: Any) -> dict[str, str]:
    """Return the parameters with which a redirect returns to the client."""
    assert response.status_code == 302, response.content
    pairs = parse_qsl(urlsplit(response["Location"]).query, keep_blank_values=True)
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)
