"""Content types in every spelling, and some that Django cannot even make a request with."""

import pytest
from django.core.exceptions import BadRequest

from tests.hostile.target import assert_refused
from tests.tool_table import TAKING_A_DRAFT

# A content type is read before a database is asked; tests/interface has the usual ones.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("nothing_changes")]

JSON_TYPES = [
    " application/json ",
    "application/json;",
    'application/json; charset="utf-8"',
    "application/json; charset*=utf-8''utf-8",
]
OTHER_PARAMETERS = [
    *("charset=utf-16", "charset=utf8mb4", "charset=", "charset=idna", "charset=\u00e9"),
    *("charset=\x00", "charset=utf-8\x00", "charset=utf-8; charset=utf-16"),
    *("charset*=utf-9''utf-8", "charset*=idna''utf-8", "charset*=utf-8''%00", "x*=nothing''y"),
    "charset=" + "x" * 10_000,
]
OTHER_TYPES = [
    *(None, "", " ", ";", "json", "text/json", "text/plain; application/json", "*/*"),
    *("application/jsonp", "application/json+x", "application/xml", "application/*"),
    *("multipart/form-data", "application/json\x00", "application/json application/json"),
    *("application/json, application/json", "application/json, text/plain"),
    *(f"application/json; {parameters}" for parameters in OTHER_PARAMETERS),
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
    for tool in TAKING_A_DRAFT:
        for content_type in OTHER_TYPES:
            with subtests.test(tool=tool, content_type=str(content_type)[:60]):
                body = target.body_for(tool)
                assert_refused(target.send_json(tool, body, CONTENT_TYPE=content_type), 415)


def test_a_content_type_cannot_break_a_read_the_gate_or_a_path_beyond_ascii(target):
    odd = "application/json; x*=nothing''y"
    assert target.request("GET", "/api/v1/documents", CONTENT_TYPE=odd).status == 200
    answer = target.request("GET", "/api/v1/tools", CONTENT_TYPE=odd, HTTP_HOST="other.example")
    assert_refused(answer, 403)
    # WSGI hands the bytes of a path over as Latin-1, and it is decoded only once.
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
