"""Request bodies: bounded, JSON only, and only JSON that every reader understands alike."""

import json
from itertools import chain
from typing import Any, NoReturn

from django.http import HttpRequest
from django.http.request import UnreadablePostError

from agent_access.errors import (
    JsonRequiredError,
    PayloadTooLargeError,
    UnreadableJsonError,
)

MAX_BODY_BYTES = 256 * 1024
MAX_NESTING = 32

JSONValue = Any


def read_json(request: HttpRequest) -> JSONValue:
    """Return the body's JSON value, with the order of its fields kept.

    Raises JsonRequiredError, PayloadTooLargeError, or UnreadableJsonError for what is not UTF-8,
    no JSON, NaN or Infinity, a repeated key, or nested deeper than 32.
    """
    charset = request.content_params.get("charset", "utf-8") if request.content_params else "utf-8"
    if request.content_type != "application/json" or charset.lower() != "utf-8":
        raise JsonRequiredError
    return parse_json(read_body(request, limit=MAX_BODY_BYTES))


def read_body(request: HttpRequest, *, limit: int) -> bytes:
    """Return the body; read at most one byte more than allowed, whatever Content-Length says.

    Raises PayloadTooLargeError, or UnreadableJsonError for a body that breaks off.

    Django takes a body without Content-Length (chunked) for empty; where the server ends the
    stream itself, as PEP 3333's `wsgi.input_terminated` promises, the stream is read instead.
    """
    declared = request.META.get("CONTENT_LENGTH") or ""
    if _declares_more_than(limit, declared):
        raise PayloadTooLargeError
    terminated = request.META.get("wsgi.input_terminated")
    stream = request.META["wsgi.input"] if terminated else request
    body = b""
    try:
        while len(body) <= limit and (part := stream.read(limit + 1 - len(body))):
            body += part
    except (UnreadablePostError, OSError):
        raise UnreadableJsonError from None
    if len(body) > limit:
        raise PayloadTooLargeError
    # To some servers a connection that broke off is the end of the stream, and half a body may be
    # whole JSON.
    if _declares_more_than(len(body), declared):
        raise UnreadableJsonError
    return body


def _declares_more_than(limit: int, content_length: str) -> bool:
    digits = content_length.strip().lstrip("0")
    if not (digits.isascii() and digits.isdecimal()):
        return False
    return len(digits) > len(str(limit)) or int(digits) > limit


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse_repetition(pairs: list[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated key")
    return members


def parse_json(body: bytes) -> JSONValue:
    """Return the JSON value that every reader would understand alike; or UnreadableJsonError."""
    try:
        value = json.loads(
            body.decode(),
            object_pairs_hook=_refuse_repetition,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError):
        raise UnreadableJsonError from None
    _check_nesting(value)
    return value


def _check_nesting(value: JSONValue) -> None:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_NESTING):
        inner = chain.from_iterable(
            each.values() if isinstance(each, dict) else each for each in level
        )
        level = [each for each in inner if isinstance(each, dict | list)]
        if not level:
            return
    raise UnreadableJsonError
