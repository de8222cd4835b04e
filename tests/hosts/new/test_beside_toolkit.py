"""A project that already runs Django OAuth Toolkit: its clients and ours never meet."""

import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from agent_access.oauth.endpoints import FORM
from tests.agents import Answer
from tests.hosts.new.conftest import NO_MISTAKES, MakeProject, Project
from tests.hosts.new.visitors import RESOURCE, Browser, Client

# What the two apps do on both databases is asked by their own tests.
pytestmark = [pytest.mark.sqlite, pytest.mark.prove]

FORMER = "notes.settings_with_toolkit"
SETTINGS = "notes.settings_beside_toolkit"

ADDRESS = "ftp://printer.example/callback"
SECRET = "a-secret-of-the-printer"
Tokens = Any  # the JSON of a token response

MAKE_CLIENT = f"""
from datetime import timedelta
from django.contrib.auth import get_user_model
from django.utils import timezone
from oauth2_provider.models import Application, Grant
for grant_type in ("client-credentials", "authorization-code"):
    client = Application.objects.create(
        client_id=grant_type,
        client_secret="{SECRET}",
        hash_client_secret=False,
        client_type="confidential",
        authorization_grant_type=grant_type,
        redirect_uris="{ADDRESS}",
    )
for code in ("a-code-of-olga", "another-code-of-olga"):
    Grant.objects.create(
        application=client,
        user=get_user_model().objects.get(username="olga"),
        code=code,
        expires=timezone.now() + timedelta(hours=1),
        redirect_uri="{ADDRESS}",
        scope="shelf",
    )
"""


@dataclass(frozen=True)
class Printer:
    """Another program, which has always signed in at the toolkit's own addresses."""

    project: Project

    def ask(self, client_id: str, path: str = "/o/token/", **fields: str) -> Answer:
        basic = b64encode(f"{client_id}:{SECRET}".encode()).decode()
        headers = {"Content-Type": FORM, "Authorization": f"Basic {basic}"}
        return self.project.request("POST", path, urlencode(fields).encode(), headers=headers)

    def sign_in(self) -> Tokens:
        """Sign in by itself, for nobody."""
        return self.ask("client-credentials", grant_type="client_credentials").body

    def exchange(self, code: str) -> Tokens:
        """Return tokens with which to act as olga, the owner."""
        fields = {"code": code, "redirect_uri": ADDRESS}
        answer = self.ask("authorization-code", grant_type="authorization_code", **fields)
        assert answer.status == 200, answer.content
        return answer.body


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> Iterator[Project]:
    """Serve a project that added browser sign-in when its toolkit was in use already."""
    project = make_project(FORMER)
    project.run(MAKE_CLIENT)
    before = read_tables_of_toolkit(project)
    project.change_settings(SETTINGS)
    project.manage("migrate")
    assert read_tables_of_toolkit(project) == before
    assert project.find_mistakes() == NO_MISTAKES
    project.manage("browser_sign_in", "on")
    with project.served():
        yield project


@pytest.fixture(scope="module")
def printer(project: Project) -> Printer:
    return Printer(project)


@pytest.fixture(scope="module")
def of_olga(printer: Printer) -> Tokens:
    return printer.exchange("a-code-of-olga")


@pytest.fixture(scope="module")
def client(project: Project) -> Client:
    return Client(project)


@pytest.fixture(scope="module")
def browser(project: Project, client: Client) -> Browser:
    """Olga's browser, in which she has signed in."""
    browser = Browser(project)
    browser.sign_in(client.authorize_path(resource=RESOURCE))
    return browser


@pytest.fixture(scope="module")
def pair(client: Client, browser: Browser) -> Tokens:
    path = client.authorize_path(scope="notes:read notes:write", resource=RESOURCE)
    return client.exchange(browser.allow(path, "notes:read"), resource=RESOURCE).body


def read_tables_of_toolkit(project: Project) -> list[str]:
    """Return the tables of the toolkit and all their rows, as statements that would make them."""
    with closing(sqlite3.connect(project.database)) as database:
        return [line for line in database.iterdump() if "oauth2_provider_" in line]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_both_sign_in_each_at_its_own_addresses(project, printer, of_olga, pair):
    for token in (printer.sign_in()["access_token"], of_olga["access_token"]):
        answer = project.request("GET", "/shelf", headers=bearer(token))
        assert (answer.status, answer.body) == (200, {"books": 3})
    ours = project.request("GET", "/api/v1/notes", headers=bearer(pair["access_token"]))
    assert (ours.status, ours.body) == (200, {"data": [], "next": None})


def test_no_token_of_one_opens_what_belongs_to_the_other(project, printer, of_olga, pair):
    for token in (printer.sign_in()["access_token"], of_olga["access_token"]):
        assert project.request("GET", "/api/v1/notes", headers=bearer(token)).status == 401
        assert project.call_mcp("tools/list", {}, headers=bearer(token)).status == 401
    for token in pair["access_token"], pair["refresh_token"]:
        assert project.request("GET", "/shelf", headers=bearer(token)).status == 401


def test_no_code_or_refresh_token_is_taken_by_the_other(printer, of_olga, client, pair):
    theirs = client.refresh(of_olga["refresh_token"], resource=RESOURCE)
    assert (theirs.status, theirs.body["error"]) == (400, "invalid_grant")
    strange = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
    ours = printer.ask("authorization-code", **strange)
    assert (ours.status, ours.body["error"]) == (400, "invalid_grant")


def test_neither_knows_a_client_of_the_other(printer, client, pair, of_olga):
    theirs = client.refresh(
        of_olga["refresh_token"], client_id="authorization-code", resource=RESOURCE
    )
    assert (theirs.status, theirs.body["error"]) == (401, "invalid_client")
    ours = printer.ask(client.client_id, grant_type="client_credentials")
    assert (ours.status, ours.body["error"]) == (401, "invalid_client")


def test_neither_revokes_what_the_other_gave(project, printer, of_olga, client, pair):
    assert client.revoke(of_olga["access_token"]).status == 200
    assert project.request("GET", "/shelf", headers=bearer(of_olga["access_token"])).status == 200
    token = pair["access_token"]
    assert printer.ask("authorization-code", "/o/revoke_token/", token=token).status == 200
    assert project.request("GET", "/api/v1/notes", headers=bearer(token)).status == 200


def test_a_program_with_the_owners_token_cannot_allow_anything(project, of_olga, client):
    """The project's middleware knows olga by that token, on pages too."""
    token = bearer(of_olga["access_token"])
    assert project.request("GET", "/admin/", headers=token).status == 200
    path = client.authorize_path(scope="notes:read", resource=RESOURCE)
    answer = project.request("GET", path, headers=token)
    assert (answer.status, b"csrfmiddlewaretoken" in answer.content) == (403, False)


def test_each_follows_its_own_settings(printer, client, browser, pair):
    theirs = printer.exchange("another-code-of-olga")
    assert theirs["expires_in"] == 7200
    again = {"grant_type": "refresh_token", "refresh_token": theirs["refresh_token"]}
    kept = printer.ask("authorization-code", **again)
    assert (kept.status, kept.body["refresh_token"]) == (200, theirs["refresh_token"])

    assert pair["expires_in"] == 3600
    unproven = client.authorize_path(scope="notes:read", resource=RESOURCE, code_challenge=None)
    assert browser.open(unproven).status == 400
    rotated = client.refresh(pair["refresh_token"], resource=RESOURCE)
    assert rotated.status == 200
    assert rotated.body["refresh_token"] != pair["refresh_token"]


def test_the_pages_and_commands_of_the_toolkit_are_still_the_projects(
    project, printer, browser, pair
):
    assert browser.open("/admin/oauth2_provider/application/").status == 200
    made = ["--name", "Scanner", "--client-id", "scanner", "--client-secret", SECRET]
    project.manage("createapplication", *made, "confidential", "client-credentials")
    assert printer.ask("scanner", grant_type="client_credentials").status == 200
    project.manage("cleartokens")
    ours = project.request("GET", "/api/v1/notes", headers=bearer(pair["access_token"]))
    assert ours.status == 200
