"""The doors for programs: methods, sizes, limits, odd bytes, and answers in OAuth's form."""

import re
from io import BytesIO
from unittest.mock import Mock

import pytest
from django.core.cache import cache
from django.db import DatabaseError

from agent_access.models import AuditEvent
from agent_access.oauth import exchange
from agent_access.oauth.endpoints import FORM
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import Machine, refusal_of

pytestmark = pytest.mark.sqlite  # what the doors refuse reaches no database

ENDPOINTS = ["/oauth/register", "/oauth/token", "/oauth/revoke"]
FORMS = ["/oauth/token", "/oauth/revoke"]
DOCUMENT = "https://client.example/client.json"
DESCRIPTION = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 section 5.2


@pytest.mark.requirement("sign_in.errors", "no_store.sign_in")
@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS", "TRACE"])
def test_only_post_is_answered(machine, path, method):
    answer = machine.send(method, path)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    if method != "HEAD":
        assert answer.body["error"] == "invalid_request"


@pytest.mark.requirement("limit.sign_in_body")
@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("length", [None, "1", "16385", "99999999999"])
def test_a_body_over_sixteen_kibibytes_is_refused(machine, path, length):
    kind = "application/json" if path.endswith("register") else FORM
    body = b"x" * 16385
    environ: dict[str, object] = {} if length is None else {"CONTENT_LENGTH": length}
    if length == "1":  # a lie, where the server ends the stream itself
        environ |= {"wsgi.input_terminated": True, "wsgi.input": BytesIO(body)}
    answer = machine.send("POST", path, body, content_type=kind, **environ)
    assert refusal_of(answer) == (413, "invalid_request")
    assert machine.send("POST", path, body[:-1], content_type=kind).status in {400, 401}


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_another_kind_of_body_is_refused(machine, path, kind):
    answer = machine.send("POST", path, b"client_id=x", content_type=kind)
    assert refusal_of(answer) == (415, "invalid_request")


BAD_FORMS = [
    *(b"client_id=a&client_id=b", b"client_id=a%00b", b"client_id=%ff", b"client_id=\xc3\xa4"),
    b"&".join(b"p%d=1" % number for number in range(200)),
]


@pytest.mark.requirement("sign_in.errors")
@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("body", BAD_FORMS)
def test_unreadable_parameters_are_refused(machine, path, body):
    answer = machine.send("POST", path, body, content_type=FORM)
    assert refusal_of(answer) == (400, "invalid_request")


@pytest.mark.parametrize("path", FORMS)
def test_parameters_of_the_url_are_refused(program, path):
    answer = program.post_form(f"{path}?client_id={program.client_id}", {"token": "x"})
    assert refusal_of(answer) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        *(({"grant_type": each}, 400, "unsupported_grant_type") for each in (None, "openid")),
        *(({"client_id": each}, 401, "invalid_client") for each in (None, "nobody", DOCUMENT)),
        ({"code": None}, 400, "invalid_request"),
        ({"code": "x" * 5000}, 400, "invalid_grant"),
        ({"client_secret": "x", "user": "1", "scopes": "x", "client": "x"}, 400, "invalid_grant"),
    ],
)
def test_a_wrong_token_request_gets_the_word_of_oauth_and_what_to_send(
    program, fields, status, error
):
    with nothing_changes():
        answer = program.exchange("not-a-code", **fields)
    assert refusal_of(answer) == (status, error)
    assert DESCRIPTION.fullmatch(answer.body["error_description"])
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    challenge = 'Bearer error="invalid_client"' if status == 401 else None
    assert answer.headers.get("WWW-Authenticate") == challenge


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.requirement("limit.registrations")
def test_ten_registrations_a_minute_are_answered_for_one_address(sign_in_on, settings):
    settings.AGENT_ACCESS |= {"LIMIT_REGISTER": 10}
    here, there = Machine("192.0.2.1"), Machine("192.0.2.2")
    statuses = [here.post_json("/oauth/register", {}).status for _ in range(10)]
    assert statuses == [400] * 10
    refused = here.post_json("/oauth/register", {})
    assert refusal_of(refused) == (429, "temporarily_unavailable")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert there.post_json("/oauth/register", {}).status == 400


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.requirement("limit.registrations", "limit.token_requests")
@pytest.mark.parametrize("path", ENDPOINTS)
def test_of_ipv6_a_whole_64_is_counted_and_the_full_address_is_written_down(
    sign_in_on, settings, path
):
    settings.AGENT_ACCESS |= {"LIMIT_REGISTER": 1, "LIMIT_TOKEN": 1}
    body = {"redirect_uris": ["https://client.example/"]}
    addresses = ["2001:db8::1", "2001:db8::2:1", "2001:db8:0:1::1"]
    answers = [Machine(address).post_json(path, body) for address in addresses]
    assert [answer.status == 429 for answer in answers] == [False, True, False]
    registered = AuditEvent.objects.filter(action="client:registered").order_by("sequence")
    told = list(registered.values_list("client_address", flat=True))
    assert told == ([addresses[0], addresses[2]] if path == "/oauth/register" else [])


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.requirement("limit.token_requests")
def test_thirty_token_and_revocation_requests_a_minute_are_answered_together(sign_in_on, settings):
    settings.AGENT_ACCESS |= {"LIMIT_TOKEN": 30}
    here = Machine()
    statuses = [here.post_form(FORMS[number % 2], {}).status for number in range(30)]
    assert statuses == [400] * 30
    for path in FORMS:
        refused = here.post_form(path, {})
        assert refusal_of(refused) == (429, "temporarily_unavailable")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert here.send("GET", "/.well-known/oauth-authorization-server").status == 200
    assert Machine("192.0.2.2").post_form("/oauth/token", {}).status == 400


@pytest.mark.usefixtures("as_in_production")
def test_without_the_cache_nobody_is_let_in_uncounted(program, monkeypatch):
    monkeypatch.setattr(cache, "add", Mock(side_effect=OSError))
    monkeypatch.setattr(cache, "incr", Mock(side_effect=OSError))
    assert refusal_of(program.exchange("x")) == (503, "temporarily_unavailable")


@pytest.mark.usefixtures("as_in_production")
def test_a_failure_is_told_without_its_cause(program, code, monkeypatch):
    monkeypatch.setattr(exchange, "Server", Mock(side_effect=DatabaseError("secret cause")))
    with nothing_changes():
        answer = program.exchange(code)
    assert refusal_of(answer) == (503, "temporarily_unavailable")
    assert b"secret" not in answer.content
