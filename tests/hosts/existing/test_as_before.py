"""Nothing of what the help desk answered before changes once agents are let in."""

import base64
import json
import re
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.hosts.existing.conftest import PASSWORD

# What the apps do on both databases is asked by their own tests.
pytestmark = [pytest.mark.sqlite, pytest.mark.prove]

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TOKEN = {"Authorization": "Token 0123456789abcdef0123456789abcdef01234567"}
REPORTS = {"Authorization": f"Basic {base64.b64encode(b'reports:secret').decode()}"} | FORM
TICKET = {"subject": "Screen", "comments": [{"text": "It is dark."}]}
# What differs from one answer to the next by itself.
VOLATILE = re.compile(r'(?<=csrfmiddlewaretoken" value=")\w+|(?<="access_token": ")\w+')


class Visitor:
    """Keeps cookies and the token of the last form, and notes each answer."""

    def __init__(self, desk) -> None:
        self.desk, self.cookies, self.form_token = desk, SimpleCookie(), ""
        self.seen: list[Any] = []

    def visit(self, method, path, body=None, **headers: str):
        jar = "; ".join(f"{name}={each.value}" for name, each in self.cookies.items())
        answer = self.desk.request(method, path, body, headers={"Cookie": jar} | headers)
        cookies = SimpleCookie(answer.headers.get("Set-Cookie", ""))
        self.cookies.update(cookies)
        text = answer.content.decode()
        for token in re.findall(r'csrfmiddlewaretoken" value="(\w+)"', text):
            self.form_token = token
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name not in {"Date", "Expires", "Set-Cookie"}
        }
        named = {
            name: {key: each[key] for key in each if key != "expires"}
            for name, each in cookies.items()
        }
        self.seen.append((method, path, answer.status, kept, named, VOLATILE.sub("...", text)))
        return answer

    def submit(self, path, **fields: str):
        self.visit("GET", path)
        fields = {"csrfmiddlewaretoken": self.form_token} | fields
        referer = f"https://support.example{path}"
        return self.visit("POST", path, urlencode(fields).encode(), Referer=referer, **FORM)


def visit_everything(desk):
    """Return what the help desk answers to people and programs, each door once."""
    person = Visitor(desk)
    person.visit("GET", "/desk/")
    person.visit("GET", "/desk/", Host="status.example")
    person.visit("GET", "/desk/status", Host="status.example")
    person.visit("GET", "/desk/status", Host="other.example")
    person.visit("GET", "/desk/status", **{"X-Forwarded-Proto": "http"})
    person.visit("GET", "/desk/tickets")
    person.visit("GET", "/desk/tickets/")
    person.visit("GET", "/desk/nowhere")
    person.visit("POST", "/desk/login/", b"username=nora", **FORM)
    person.submit("/desk/login/", username="nora@support.example", password="wrong")
    person.submit("/desk/login/", username="nora@support.example", password=PASSWORD)
    person.submit("/desk/tickets/", subject="Screen", body="")
    person.visit("GET", "/desk/api/v1/tickets/")
    person.visit("POST", "/desk/api/v1/tickets/", TICKET)  # without a CSRF token
    boss = Visitor(desk)
    boss.submit("/desk/admin/login/?next=/desk/status", username="olga", password=PASSWORD)

    program = Visitor(desk)
    program.visit("GET", "/desk/api/v1/")
    program.visit("GET", "/desk/api/v1/tickets/")
    program.visit("GET", "/desk/api/v1/tickets/", **TOKEN)
    program.visit("GET", "/desk/api/v1/tickets/?page=9", **TOKEN)
    program.visit("GET", "/desk/api/v1/tickets/2/", **TOKEN)
    program.visit("GET", "/desk/api/v1/tickets/1/", **TOKEN)
    program.visit("POST", "/desk/api/v1/tickets/", TICKET, **TOKEN)
    program.visit("POST", "/desk/api/v1/tickets/", {"subject": "PRINTER"}, **TOKEN)
    program.visit("POST", "/desk/api/v1/tickets/", b"{", **TOKEN, **{"Content-Type": "text/x"})
    program.visit("POST", "/desk/api/v1/tickets/2/close/", **TOKEN)
    program.visit("DELETE", "/desk/api/v1/tickets/2/", **TOKEN)
    wrong = {"Authorization": "Token wrong"}
    program.visit("GET", "/desk/api/v1/tickets/", **wrong)
    bearer = {"Authorization": "Bearer nobody-knows-this"}
    program.visit("GET", "/desk/api/v1/tickets/", **bearer)
    preflight = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
    program.visit("OPTIONS", "/desk/api/v1/tickets/", **preflight)
    program.visit("GET", "/desk/api/v1/tickets/", **TOKEN, Origin="https://app.example")
    program.visit("GET", "/desk/api/v1/tickets/", **TOKEN, Origin="https://other.example")
    signed_in = json.dumps({"username": "nora", "password": PASSWORD}).encode()
    program.visit("POST", "/desk/api/v1/token/", signed_in, **{"Content-Type": "application/json"})
    told = program.visit("POST", "/desk/o/token/", b"grant_type=client_credentials", **REPORTS)
    toolkit = {"Authorization": f"Bearer {told.body['access_token']}"}
    program.visit("GET", "/desk/api/v1/tickets/", **toolkit)
    program.visit("GET", "/desk/o/authorize/?client_id=reports")
    return [*person.seen, *boss.seen, *program.seen]


@pytest.fixture(scope="module")
def answers(before):
    return visit_everything(before)


def test_every_answer_is_what_it_was(answers, desk):
    assert visit_everything(desk) == answers


def test_the_help_desks_own_tests_pass(desk):
    desk.manage("test", "--verbosity", "0")


def test_the_help_desk_answered_at_all(answers):
    """Otherwise the answers would be the same, since all of them are refusals."""
    statuses = {(method, path): status for method, path, status, *_ in answers}
    assert statuses["GET", "/desk/tickets/"] == 200
    assert statuses["POST", "/desk/o/token/"] == 200
    assert statuses["POST", "/desk/api/v1/tickets/2/close/"] == 200
