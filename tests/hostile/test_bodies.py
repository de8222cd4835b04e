"""Bodies of every size and length, and the headers that lie about them."""

import json
from io import BytesIO

import pytest
from typing_extensions import override

from agent_access.bodies import MAX_BODY_BYTES, MAX_DISCARDED_BYTES
from invoicing.models import Document
from tests.hostile.target import assert_refused
from tests.snapshots import take_snapshot
from tests.tool_table import TABLE, TAKING_A_DRAFT

# A body is read before a database is asked; test_json.py asks both for what it holds.
pytestmark = pytest.mark.sqlite


class BrokenStream:
    """A connection that breaks off after some bytes."""

    def __init__(self, content: bytes) -> None:
        self._rest = BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        part = self._rest.read(size)
        if not part:
            raise ConnectionResetError("peer went away")
        return part

    readline = read


class CountingStream(BytesIO):
    """A stream that counts how often it was asked for bytes."""

    asked = 0

    @override
    def read(self, size: int | None = -1) -> bytes:
        self.asked += 1
        return super().read(size)


class SlowStream(BytesIO):
    """A stream that gives a few bytes at a time, as sockets do."""

    @override
    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(size or 1, 1000) if size != -1 else 1000)


@pytest.fixture
def body(target) -> bytes:
    return json.dumps(target.body_for("drafts.create")).encode()


def pad(target, tool: str, size: int) -> bytes:
    """Return a valid body of the tool with as many bytes."""
    body: bytes = json.dumps(target.body_for(tool)).encode()
    return body[:-1] + b" " * (size - len(body)) + b"}"


def chunked(stream: object) -> dict[str, object]:
    return {
        "CONTENT_LENGTH": None,
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input_terminated": True,
        "wsgi.input": stream,
    }


@pytest.mark.requirement("limit.body", "error.payload_too_large")
@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
@pytest.mark.parametrize("stream", [BytesIO, SlowStream])
def test_a_chunked_body_is_read_up_to_the_same_limit(target, tool, stream):
    before = take_snapshot()
    too_large = pad(target, tool, MAX_BODY_BYTES + 1)
    assert_refused(target.send(tool, b"", **chunked(stream(too_large))), 413)
    assert take_snapshot() == before
    largest = pad(target, tool, MAX_BODY_BYTES)
    assert target.send(tool, b"", **chunked(stream(largest))).status == TABLE[tool].status


def test_an_endless_chunked_body_is_read_for_a_mebibyte_beyond_the_limit(target):
    class Endless:
        taken = 0

        def read(self, size: int) -> bytes:
            self.taken += size
            return b" " * size

        readline = read

    stream = Endless()
    assert_refused(target.send("drafts.create", b"", **chunked(stream)), 413)
    # The first for the answer, the rest for the connection.
    assert stream.taken == MAX_BODY_BYTES + 1 + MAX_DISCARDED_BYTES + 1


def test_a_body_that_is_announced_far_too_large_is_not_read(target):
    stream = CountingStream(b"x" * 10)
    # Python converts no more than 4300 digits.
    for length in ("1048577", "9" * 23, "9" * 5000, "01048577", " 1048577 "):
        environ = {"CONTENT_LENGTH": length, "wsgi.input": stream}
        assert_refused(target.send("drafts.create", b"", **environ), 413)
    assert stream.asked == 0


@pytest.mark.usefixtures("nothing_changes")
@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, "-" + "9" * 200_000])
def test_an_integer_of_any_length_is_refused_with_its_fields_name(target, digits):
    body = json.dumps(target.body_for("drafts.update", lock_version="HERE")).encode()
    answer = target.send("drafts.update", body.replace(b'"HERE"', digits.encode()))
    assert_refused(answer, 422, fields=["lock_version"])


@pytest.mark.usefixtures("nothing_changes")
@pytest.mark.parametrize(
    "length", [None, "", "abc", "-1", "1.5", "0x10", "\u0663", "1 2", "5, 5", "0", "1"]
)
def test_without_a_length_that_is_a_number_a_body_is_empty_and_a_short_one_cuts_it(
    target, body, length
):
    answer = target.send("drafts.create", body, CONTENT_LENGTH=length)
    assert_refused(answer, 422, fields=[])


def test_what_follows_the_announced_length_is_not_read(target, body):
    smuggled = body + b'{"GET": "/api/v1/people HTTP/1.1"}'
    answer = target.send("drafts.create", smuggled, CONTENT_LENGTH=str(len(body)))
    assert answer.status == 201


@pytest.mark.usefixtures("nothing_changes")
@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
@pytest.mark.parametrize("terminated", [True, False])
def test_a_body_shorter_than_its_length_is_refused_though_it_is_whole_json(
    target, tool, terminated
):
    """To granian a connection that broke off is the end of the stream."""
    body = json.dumps(target.body_for(tool)).encode()
    environ = {"CONTENT_LENGTH": str(len(body) + 1), "wsgi.input_terminated": terminated}
    assert_refused(target.send(tool, body, **environ), 422, fields=[])


@pytest.mark.usefixtures("nothing_changes")
def test_a_connection_that_breaks_off_changes_nothing(target, body, subtests):
    for content, terminated in [(b"", True), (body[:50], True), (body, True), (body[:50], False)]:
        with subtests.test(length=len(content), terminated=terminated):
            environ = chunked(BrokenStream(content))
            if not terminated:
                environ = {"CONTENT_LENGTH": "1000", "wsgi.input": BrokenStream(content)}
            assert_refused(target.send("drafts.create", b"", **environ), 422, fields=[])


def test_whatever_a_server_raises_of_a_body_changes_no_answer(target):
    class Broken:
        def read(self, size: int = -1) -> bytes:
            raise NotImplementedError("an exception of the server's own")

        readline = read

    refused = target.request("POST", "/api/v1/documents", b"", **chunked(Broken()))
    assert refused.status == 405
    assert_refused(target.send("drafts.create", b"", **chunked(Broken())), 422, fields=[])


def test_without_a_body_nothing_is_read(target):
    stream = CountingStream(b"x" * 10)
    environ = {"wsgi.input_terminated": True, "wsgi.input": stream, "CONTENT_LENGTH": None}
    assert target.request("GET", "/api/v1/documents", b"", **environ).status == 200
    assert stream.asked == 0


@pytest.mark.parametrize("length", [10, 1024 * 1024])
def test_where_no_server_ends_the_stream_a_refused_body_is_read_to_its_length(target, length):
    stream = CountingStream(b"x" * length + b"GET /api/v1/people")
    environ = {"CONTENT_LENGTH": str(length), "wsgi.input": stream}
    assert target.request("POST", "/api/v1/documents", b"", **environ).status == 405
    assert stream.tell() == length


def test_a_body_tool_names_a_bounded_number_of_parameters(target):
    query = "&".join(f"p{number}" for number in range(50_000))
    for changes in ({}, {"notes": 1}):
        body = target.body_for("drafts.create", **changes)
        answer = target.send_json("drafts.create", body, QUERY_STRING=query)
        assert_refused(answer, 422)
        assert len(answer.error["problems"]) == 20
    assert Document.objects.count() == 1
