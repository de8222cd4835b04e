"""Header fields that try to be two, or something else."""

import pytest

from tests.hostile.target import assert_refused

# A header field is read before a database is asked.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("nothing_changes")]

# Those that a client of HTTP would not send; tests/interface has the others.
KEYS = {
    "missing": None,
    "a line end and a header": "one\r\nX-Injected: 1",
    "a line feed": "one\n",
    "a NUL": "one\x00",
    "full width": "\uff11".encode().decode("latin-1"),
    "a million characters": "x" * 1_000_000,
    "SQL": "' OR '1'='1",
}


@pytest.mark.requirement("limit.idempotency_key", "idempotency.key_header")
@pytest.mark.parametrize("tool", ["drafts.create", "drafts.update"])
def test_a_key_is_taken_whole_or_not_at_all(target, subtests, tool):
    body = target.body_for(tool)
    for kind, key in KEYS.items():
        with subtests.test(kind=kind):
            answer = target.send_json(tool, body, HTTP_IDEMPOTENCY_KEY=key)
            assert_refused(answer, 422, fields=["Idempotency-Key"])
            assert "X-Injected" not in answer.headers


def test_a_key_in_the_body_or_the_query_is_no_key(target):
    body = target.body_for("drafts.create") | {"idempotency_key": "one"}
    environ = {"HTTP_IDEMPOTENCY_KEY": None, "QUERY_STRING": "Idempotency-Key=one"}
    answer = target.send_json("drafts.create", body, **environ)
    assert_refused(answer, 422)
    assert set(answer.error["fields"]) == {"Idempotency-Key", "idempotency_key"}


def test_a_key_on_a_tool_that_does_not_write_is_not_looked_at(target):
    for key in KEYS.values():
        body = target.body_for("documents.preview")
        answer = target.send_json("documents.preview", body, HTTP_IDEMPOTENCY_KEY=key)
        assert answer.status == 200


OTHERS = (
    {"HTTP_X_HTTP_METHOD_OVERRIDE": "DELETE"},
    {"HTTP_X_METHOD_OVERRIDE": "PUT"},
    {"HTTP_ACCEPT": "text/html"},
    {"HTTP_ACCEPT": "\x00;;;q=x"},
    {"HTTP_ACCEPT": "application/json;version=99"},
    {"HTTP_ACCEPT_LANGUAGE": "\xff" * 10_000},
    {"HTTP_ACCEPT_ENCODING": "gzip, br, *;q=0"},
    {"HTTP_COOKIE": "sessionid=x; " * 1_000},
    {"HTTP_COOKIE": "\x00=;=;;\xff"},
    {"HTTP_RANGE": "bytes=0-1"},
    {"HTTP_IF_MATCH": "*"},
    {"HTTP_IF_NONE_MATCH": "*"},
    {"HTTP_IF_MODIFIED_SINCE": "never"},
    {"HTTP_EXPECT": "100-continue"},
    {"HTTP_CONTENT_ENCODING": "gzip"},
    {"HTTP_X_FORWARDED_FOR": "\x00" * 10_000},
    {"HTTP_FORWARDED": 'for="[::]";host=other.example;proto=http'},
    {"HTTP_X_ORIGINAL_URL": "/admin", "HTTP_X_REWRITE_URL": "/admin"},
    {"HTTP_USER_AGENT": "() { :; }; echo"},
    {"HTTP_SEC_FETCH_SITE": "cross-site"},
    {"HTTP_REFERER": "https://other.example"},
    {"SCRIPT_NAME": ""},
)


def test_no_other_header_changes_an_answer(target, subtests):
    plain = target.request("GET", "/api/v1/documents")
    for environ in OTHERS:
        with subtests.test(environ=str(environ)[:60]):
            answer = target.request("GET", "/api/v1/documents", **environ)
            assert (answer.status, answer.content) == (200, plain.content)
            assert answer.headers["Content-Type"] == "application/json"
            assert set(answer.headers) == set(plain.headers)
