"""Request bodies: bounded, JSON only, and only JSON that every reader understands alike."""

import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from itertools import chain
from typing import Any, NoReturn

from django.http import HttpRequest

from agent_access import errors

MAX_BODY_BYTES = 256 * 1024
MAX_DIGITS = 1000
# Of a refused body. A client that stalls occupies a thread for as long as it stays connected,
# unless a proxy holds back that much of a body until all of it has come.
MAX_DISCARDED_BYTES = 1024 * 1024
PART_BYTES = 64 * 1024
MAX_NESTING = 32
# RFC 9110 section 8.4.1: the encodings that are none.
IDENTITY = ("", "identity")
# That of UTF-32 in little endian begins with the second one; nobody writes the other.
BYTE_ORDER_MARKS = (BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE)
# A longer Content-Length is cut to so many digits: still too large, and quick to convert.
LENGTH_DIGITS = 18

JSONValue = Any


def read_json(request: HttpRequest) -> JSONValue:
    """Return the body's JSON value, with the order of its fields kept.

    Raises JsonRequiredError (415, also for a body in any encoding, such as gzip),
    PayloadTooLargeError, or UnreadableJsonError for a body that breaks off, and for what
    `parse_json` refuses.
    """
    charset = request.content_params.get("charset", "utf-8") if request.content_params else "utf-8"
    if request.content_type != "application/json" or charset.lower() != "utf-8":
        raise errors.JsonRequiredError
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in IDENTITY:
        raise errors.JsonRequiredError(errors.CONTENT_ENCODED)
    return parse_json(read_body(request, limit=MAX_BODY_BYTES))


def read_body(request: HttpRequest, *, limit: int) -> bytes:
    """Return the body; read at most one byte beyond the limit, whatever Content-Length says.

    `limit` is in bytes. Raises PayloadTooLargeError, or UnreadableJsonError for a body that breaks
    off.

    Django takes a body without Content-Length (chunked) for empty; if the server ends the stream
    itself, which the WSGI extension `wsgi.input_terminated` promises, the stream is read instead.
    """
    declared = _read_length(request.META.get("CONTENT_LENGTH") or "")
    if declared is not None and declared > limit:
        raise errors.PayloadTooLargeError
    # Once the declared length is there, looking for the end would wait for the server.
    wanted = limit + 1 if declared is None else declared
    stream = _find_stream(request)
    body = b""
    try:
        while len(body) < wanted and (part := stream.read(limit + 1 - len(body))):
            body += part
    except Exception:  # noqa: BLE001  each server has its own for a body that breaks off
        raise errors.UnreadableJsonError from None
    if len(body) > limit:
        raise errors.PayloadTooLargeError
    # Some servers end the stream when the connection breaks off, and half a body may be valid JSON.
    if declared is not None and declared > len(body):
        raise errors.UnreadableJsonError
    return body


def discard_body(request: HttpRequest) -> None:
    """Read what nobody has read of the body, so that its connection serves the next request.

    A server closes a connection whose body was left unread, and does so without a word: a client
    that was refused for its credential would sign in over it, and be cut off. That still happens
    after bodies of more than MAX_DISCARDED_BYTES.
    """
    declared = _read_length(request.META.get("CONTENT_LENGTH") or "")
    if declared is None and "HTTP_TRANSFER_ENCODING" not in request.META:
        return
    if declared is not None and declared > MAX_DISCARDED_BYTES:
        return
    stream, left = _find_stream(request), MAX_DISCARDED_BYTES + 1
    with suppress(Exception):  # the answer is made, and nothing about the body may change it
        while left > 0 and (part := stream.read(min(left, PART_BYTES))):
            left -= len(part)


def _find_stream(request: HttpRequest) -> Any:
    # What other middleware has read already, Django keeps for the next reader.
    terminated = request.META.get("wsgi.input_terminated") and not hasattr(request, "_body")
    return request.META["wsgi.input"] if terminated else request


def _read_length(content_length: str) -> int | None:
    """Return the declared length in bytes, or None if it is zero or not a number."""
    digits = content_length.strip().lstrip("0")
    if not (digits.isascii() and digits.isdecimal()):
        return None
    return int(digits[:LENGTH_DIGITS])


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse_repetition(pairs: list[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated key")
    return members


def _read_integer(digits: str) -> int | float:
    """Return the number, or an infinite one if Python reads no integer of so many digits.

    No field takes it, so that it is refused with the field's name.
    """
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


# Made once: the library keeps only its default decoder, which has no hooks.
DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_repetition,
    parse_constant=_refuse_constant,
    parse_int=_read_integer,
)


def parse_json(body: bytes) -> JSONValue:
    """Return the JSON value, if every reader would understand it alike.

    Raises UnreadableJsonError for a byte order mark, what is not UTF-8 or not JSON, NaN and
    Infinity, a repeated key, and nesting deeper than 32.
    """
    if body.startswith(BYTE_ORDER_MARKS):
        raise errors.UnreadableJsonError(message=errors.BYTE_ORDER_MARK)
    try:
        value = DECODER.decode(body.decode())
    except (ValueError, RecursionError):
        raise errors.UnreadableJsonError from None
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
    raise errors.UnreadableJsonError
