"""Every tool against every reason that lies in the request: address, credential, limits, body."""

import gzip
import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from itertools import product
from typing import Any

import pytest
import time_machine

from agent_access.errors import BYTE_ORDER_MARK, CONTENT_ENCODED, OBJECT_AS_TEXT
from agent_access.models import AuditEvent
from agent_access.switches import turn_access
from tests.interface.http_requests import request_of, send
from tests.interface.refusals import (
    OUTSIDE,
    audit_of,
    invalid,
    nothing_changes,
    refusal,
    request_id_of,
    seen,
)
from tests.tool_table import TABLE, WITH_BODY

# What HTTP itself refuses, it refuses before a record is asked for.
pytestmark = [pytest.mark.http, pytest.mark.sqlite]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW")
BELONGING = ("WWW-Authenticate", "Retry-After", "Allow")


def refuse_all(calls, agent, code, message="", *, belonging=None, **changes: Any):
    """Send every call; each must get exactly this refusal, change nothing and not be stored."""
    with nothing_changes():
        for call in calls.values():
            answer = send(call, agent, **changes)
            assert seen(answer) == refusal(code, message), call.tool
            assert headers_of(answer) == (belonging or {})


def headers_of(answer):
    """Return the header fields that belong to this refusal; check those of every answer."""
    request_id_of(answer)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    return {name: answer.headers[name] for name in BELONGING if name in answer.headers}


@pytest.mark.requirement("transport.base_url", "transport.origin", "no_store.tools")
def test_a_request_from_outside_the_one_address_is_forbidden(agent, connection, calls, subtests):
    for reason, (changes, message) in OUTSIDE.items():
        with subtests.test(reason=reason):
            refuse_all(calls, agent, "forbidden", message, **changes)
    assert audit_of(connection) == []


def test_with_access_off_there_is_nothing(agent, connection, calls):
    turn_access(on=False)
    refuse_all(calls, agent, "not_found")
    # Nor does any path tell its methods.
    refuse_all(calls, agent, "not_found", method="PATCH")
    assert audit_of(connection) == []


@pytest.mark.usefixtures("many_calls")
def test_a_known_address_names_its_methods_to_any_other(agent, connection, calls, subtests):
    known = str(calls["drafts.update"].id)
    with nothing_changes():
        for path, method in product({row.path for row in TABLE.values()}, METHODS):
            allowed = {row.method for row in TABLE.values() if row.path == path}
            if method in allowed:
                continue
            with subtests.test(path=path, method=method):
                answer = agent.request(method, path.replace("{id}", known))
                assert answer.status == 405
                assert headers_of(answer) == {"Allow": ", ".join(sorted(allowed))}
                if method != "HEAD":
                    assert seen(answer) == refusal("method_not_allowed")
        assert audit_of(connection) == []


UNKNOWN_PATHS = [
    "/api/v1",
    "/api/v1/",
    "/api/v1/invoices",
    "/api/v1/documents/one/two",
    "/api/v1/TOOLS",
    "/api/v1/tools.json",
    *dict.fromkeys(f"{row.path}/" for row in TABLE.values()),
]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_address_and_a_trailing_slash_lead_nowhere(agent, connection, method):
    for path in UNKNOWN_PATHS:
        answer = agent.request(method, path)
        assert seen(answer) == refusal("not_found"), path
        assert headers_of(answer) == {}
    assert audit_of(connection) == []


@pytest.mark.requirement("transport.accept")
def test_accept_is_never_refused_and_changes_nothing(agent):
    plain = agent.call("tools.list")
    for accept in ("text/html", "application/xml;q=1", "nonsense", "application/json;q=0", ""):
        answer = agent.request("GET", "/api/v1/tools", headers={"Accept": accept})
        assert (answer.status, answer.content) == (200, plain.content)
        assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.requirement("transport.json", "error.json_required")
def test_a_wrong_content_type_asks_for_json(agent, connection, calls):
    types = ("", "text/plain", "application/x-www-form-urlencoded", "application/vnd.api+json")
    others = ("multipart/form-data; boundary=x", "application/json; charset=latin-1")
    bodied = {tool: calls[tool] for tool in WITH_BODY}
    for content_type in types + others:
        refuse_all(bodied, agent, "json_required", content_type=content_type)
    assert audit_of(connection) == [(tool, "json_required") for tool in WITH_BODY] * 6


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; Charset=UTF-8", "application/json;x=y"]
)
def test_every_way_to_write_the_json_type_is_taken(agent, calls, content_type):
    answer = send(calls["documents.preview"], agent, content_type=content_type)
    assert answer.status == 200


@pytest.mark.requirement("error.payload_too_large", "limit.body")
def test_a_body_over_256_kib_is_too_large(agent, connection, calls):
    bodied = {tool: calls[tool] for tool in WITH_BODY}
    refuse_all(bodied, agent, "payload_too_large", body=b" " * (256 * 1024 + 1))
    assert audit_of(connection) == [(tool, "payload_too_large") for tool in WITH_BODY]


@pytest.mark.parametrize("tool", WITH_BODY)
def test_a_body_of_exactly_256_kib_is_read(agent, calls, tool):
    body = request_of(calls[tool])["body"].ljust(256 * 1024)
    assert send(calls[tool], agent, body=body).status == TABLE[tool].status


UNREADABLE = (
    *(b"", b"{", b'{"a": 1, "a": 1}', b'{"a": NaN}', b'{"a": "\xff"}'),
    *(b"[]", b'"x"', b"null", b"1"),
)


def test_a_body_that_is_no_readable_object_fails_and_names_no_field(agent, connection, calls):
    with nothing_changes():
        for body, tool in product(UNREADABLE, WITH_BODY):
            # Django's client would leave the type out where the body is empty.
            answer = send(calls[tool], agent, body=body, CONTENT_TYPE="application/json")
            assert seen(answer) == invalid(), body
            assert headers_of(answer) == {}
        told = [(tool, "validation_failed") for tool in WITH_BODY]
        assert audit_of(connection) == told * len(UNREADABLE)


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "deflate, gzip", "x"])
def test_an_encoded_body_is_refused_with_a_text_of_its_own(agent, connection, calls, encoding):
    bodied = {tool: calls[tool] for tool in WITH_BODY}
    headers = {"Content-Encoding": encoding, "Idempotency-Key": "one"}
    body = gzip.compress(b"{}")
    refuse_all(bodied, agent, "json_required", CONTENT_ENCODED, body=body, headers=headers)
    assert audit_of(connection) == [(tool, "json_required") for tool in WITH_BODY]


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_a_body_that_is_called_not_encoded_is_read(agent, calls, encoding):
    headers = {"Content-Encoding": encoding}
    assert send(calls["documents.preview"], agent, headers=headers).status == 200


@pytest.mark.parametrize("mark", [BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE])
def test_a_byte_order_mark_is_refused_with_a_text_of_its_own(agent, calls, mark):
    answer = send(calls["documents.preview"], agent, body=mark + b"{}")
    expected = refusal("validation_failed", BYTE_ORDER_MARK, problems=[], fields=[])
    assert seen(answer) == expected


def test_a_body_that_is_a_string_of_json_is_told_so(agent, calls):
    call = calls["documents.preview"]
    body = json.dumps(json.dumps(call.arguments)).encode()
    text = OBJECT_AS_TEXT.format(name="body")
    expected = refusal("validation_failed", text, problems=[], fields=[])
    assert seen(send(call, agent, body=body)) == expected


def test_a_tool_that_takes_a_body_takes_nothing_from_the_url(agent, connection, calls):
    with nothing_changes():
        for tool in WITH_BODY:
            answer = send(calls[tool], agent, query="notes=paid")
            assert seen(answer) == invalid(("notes", "is not a field of this tool"))
        assert audit_of(connection) == [(tool, "validation_failed") for tool in WITH_BODY]


def test_a_read_needs_no_content_type_and_no_body(agent, calls):
    for content_type in ("", "text/plain"):
        answer = send(calls["documents.get"], agent, content_type=content_type, body=b"not json")
        assert answer.status == 200


def test_every_request_has_an_id_of_its_own_which_the_audit_keeps(agent, connection, calls):
    answers = [send(call, agent, headers={"X-Request-Id": "mine"}) for call in calls.values()]
    kept = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    assert list(kept.values_list("request_id", flat=True)) == [*map(request_id_of, answers)]
    assert len({request_id_of(answer) for answer in answers}) == len(TABLE)


@pytest.mark.requirement("error.rate_limited")
@pytest.mark.parametrize("limit", ["LIMIT_PER_ADDRESS", "LIMIT_PER_CONNECTION"])
def test_over_a_limit_every_tool_says_how_long_to_wait(agent, connection, calls, settings, limit):
    agent.call("tools.list")
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, limit: 1}
    with nothing_changes(), time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        agent.call("tools.list")
        waits = set()
        for call in calls.values():
            answer = call.made_by(agent)
            assert seen(answer) == refusal("rate_limited")
            waits.add(headers_of(answer).pop("Retry-After"))
        (seconds,) = waits
        assert 1 <= int(seconds) <= 60
        clock.shift(int(seconds) - 1)
        assert seen(agent.call("tools.list")) == refusal("rate_limited")
        clock.shift(1)
        assert agent.call("tools.list").status == 200
