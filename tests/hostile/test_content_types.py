"""Content types in every spelling, and some that Django cannot even make a request with."""

import pytest
from django.core.exceptions import BadRequest

from tests.hostile.target import BODY_TOOLS, assert_nothing_changed, assert_refused
from tests.snapshots import take_snapshot

# A content type is read before a database is asked.
pytestmark = pytest.mark.sqlite

JSON_TYPES = [
    "application/json",
    "APPLICATION/JSON",
    " application/json ",
    "application/json;",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "application/json; Charset=Utf-8",
    "application/json; version=1",
    "application/json; charset*=utf-8''utf-8",
]
OTHER_TYPES = [
    None,
    "",
    " ",
    ";",
    "json",
    "text/json",
    "text/plain",
    "text/plain; application/json",
    "application/jsonp",
    "application/json+x",
    "application/vnd.api+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "application/xml",
    "*/*",
    "application/*",
    "application/json, application/json",
    "application/json, text/plain",
    "application/json application/json",
    "application/json\x00",
    "application/json; charset=latin-1",
    "application/json; charset=utf-16",
    "application/json; charset=utf8mb4",
    "application/json; charset=",
    "application/json; charset=idna",
    "application/json; charset=\x00",
    "application/json; charset=utf-8\x00",
    "application/json; charset=\u00e9",
    "application/json; charset=" + "x" * 10_000,
    "application/json; charset=utf-8; charset=utf-16",
    "application/json; charset*=utf-9''utf-8",
    "application/json; charset*=idna''utf-8",
    "application/json; x*=nothing''y",
    "application/json; charset*=utf-8''%00",
]


@pytest.mark.requirement("transport.json", "error.json_required")
def test_json_is_json_in_any_spelling(target, subtests):
    for content_type in JSON_TYPES:
        with subtests.test(content_type=content_type):
            body = target.body_for("documents.preview")
            answer = target.send_json("documents.preview", body, CONTENT_TYPE=content_type)
            assert answer.status == 200


@pytest.mark.requirement("transport.json", "error.json_required")
def test_no_other_type_and_no_other_charset_is_json(target, subtests):
    before = take_snapshot()
    for tool in BODY_TOOLS:
        for content_type in OTHER_TYPES:
            with subtests.test(tool=tool, content_type=str(content_type)[:60]):
                body = target.body_for(tool)
                assert_refused(target.send_json(tool, body, CONTENT_TYPE=content_type), 415)
    assert_nothing_changed(before)


def test_a_content_type_cannot_break_a_read_or_the_gate(target):
    odd = "application/json; x*=nothing''y"
    assert target.request("GET", "/api/v1/documents", CONTENT_TYPE=odd).status == 200
    answer = target.request("GET", "/api/v1/tools", CONTENT_TYPE=odd, HTTP_HOST="other.example")
    assert_refused(answer, 403)


def test_a_content_type_cannot_break_a_path_beyond_ascii(target):
    """WSGI hands the bytes of a path over as Latin-1, and it is decoded only once."""
    odd = "application/json; x*=nothing''y"
    assert target.request("GET", "/\xc4\x80", CONTENT_TYPE=odd).status == 404


def test_a_content_type_that_django_refuses_to_read_is_none(target, monkeypatch):
    """It raises ValueError, and BadRequest in the releases after 5.2."""

    def refuse(line: str) -> tuple[str, dict[str, str]]:
        if line:
            raise BadRequest
        return "", {}

    monkeypatch.setattr("django.http.request.parse_header_parameters", refuse)
    answer = target.request("GET", "/api/v1/documents", CONTENT_TYPE="application/json; x=y")
    assert answer.status == 200
