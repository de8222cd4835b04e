"""The page that connects a client: this server's lines, and the first call as it comes."""

import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agent_access.switches import turn_access
from invoicing.access import Permission
from invoicing.web.setup.clients import CLIENTS, find_client, line_of_trust
from tests.factories import UserFactory
from tests.mcp_clients.clients_page import PAGE
from tests.web.forms import main_of, text_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

BASE_URL = "https://invoices.example"


def blocks(answer: Any) -> list[str]:
    found = re.findall(r"<pre[^>]*>(.*?)</pre>", answer.content.decode(), re.DOTALL)
    return [unescape(each) for each in found]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda each: each.key)
def test_each_client_has_its_lines_with_this_server_s_address(sign_in, owner, client):
    answer = sign_in(owner).get(f"/setup/connect?client={client.key}")
    wanted = [each.fill(BASE_URL) for each in (*client.sign_in, *client.pasted)]
    assert blocks(answer) == wanted
    assert all(BASE_URL in each for each in wanted)


def test_the_address_is_that_of_the_settings_and_never_of_the_request(sign_in, owner):
    desk = sign_in(owner)
    headers = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    assert "evil.example" not in main_of(desk.get("/setup/connect", headers=headers))
    assert desk.get("/setup/connect", headers={"host": "evil.example"}).status_code == 403


def test_an_unknown_client_is_the_first_one(sign_in, owner):
    shown = blocks(sign_in(owner).get("/setup/connect?client=nonsense&since=nonsense"))
    assert shown[0] == f"claude mcp add --transport http invoicing {BASE_URL}/mcp"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda each: each.key)
def test_the_documentation_has_the_same_lines(client):
    section = PAGE.split(f"\n### {client.name}\n")[1].split("\n### ")[0].split("\n## ")[0]
    documented = re.findall(r"```\w+\n(.*?)\n```", section, re.DOTALL)
    wanted = [each.fill(BASE_URL) for each in (*client.sign_in, *client.pasted)]
    assert documented == wanted


def test_a_certificate_of_this_machine_is_trusted_by_a_line_of_its_own():
    authority = Path("/my house/ca.pem")
    assert line_of_trust(find_client("codex"), authority) == (
        "export SSL_CERT_FILE='/my house/ca.pem'"
    )
    assert line_of_trust(find_client("claude"), authority) == ""
    assert line_of_trust(find_client("codex"), None) == ""


def told(desk: Any, since: Any) -> dict[str, Any]:
    answer: dict[str, Any] = desk.get("/setup/connect/call", {"since": since.isoformat()}).json()
    return answer


def test_the_page_waits_for_a_connection_then_for_its_call_and_tells_it(
    sign_in, owner, delegate, connect, time_machine
):
    time_machine.move_to("2026-03-02T09:30:07+00:00", tick=False)
    desk, since = sign_in(owner), timezone.now() - timedelta(seconds=1)
    assert told(desk, since) == {"came": False, "told": "Waiting for the first call …"}
    _, agent = connect(delegate, name="Ledger agent")
    waits = "Ledger agent is connected. Waiting for its first call …"
    assert told(desk, since) == {"came": False, "told": waits}
    agent.call("customers.search")
    came = "The first call arrived: Ledger agent called customers.search at 09:30:07 UTC."
    assert told(desk, since) == {"came": True, "told": came}
    assert came in text_of(desk.get("/setup/connect", {"since": since.isoformat()}))
    # Who opens the page later waits for the next one.
    assert told(desk, timezone.now())["came"] is False


def test_a_first_call_that_was_refused_says_why(sign_in, owner, delegate, connect):
    since = timezone.now() - timedelta(seconds=1)
    _, agent = connect(delegate, name="Ledger agent")
    agent.call("documents.get", id="0190a3f6-0000-7000-8000-000000000000")
    answer = told(sign_in(owner), since)
    assert answer["came"]
    assert "was refused. What it named is not there, or out of reach." in answer["told"]


@pytest.mark.parametrize(
    "since",
    [
        *("", "nonsense", "2026-03-02", "2026-03-02T09:30:00", "2026-13-40T00:00:00+00:00"),
        *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    ],
)
def test_a_moment_that_is_none_finds_nothing(sign_in, owner, since):
    answer = sign_in(owner).get("/setup/connect/call", {"since": since})
    assert answer.status_code == 404


def test_nobody_else_learns_who_calls(sign_in, owner, delegate, connect):
    _, agent = connect(delegate, name="Ledger agent")
    agent.call("customers.search")
    since = (timezone.now() - timedelta(hours=1)).isoformat()
    for fields in ({}, {"is_staff": True, "is_superuser": True}):
        desk = sign_in(UserFactory.create(permissions=tuple(Permission), **fields))
        assert desk.get("/setup/connect/call", {"since": since}).status_code == 404
        assert "Ledger" not in main_of(desk.get("/setup/connect", {"since": since}))


def test_what_keeps_agents_out_is_said_with_a_link_to_mend_it(sign_in, owner):
    turn_access(on=False)
    shown = main_of(sign_in(owner).get("/setup/connect"))
    assert 'href="/admin/agent_access/accesssettings/access/"' in shown
    assert 'href="/admin/agent_access/accesssettings/browser-sign-in/"' in shown
    assert "Nobody may approve invoices yet" in shown
    UserFactory.create(permissions=[Permission.FINALIZE, Permission.VIEW_DOCUMENT])
    assert "Nobody may approve" not in main_of(sign_in(owner).get("/setup/connect"))
