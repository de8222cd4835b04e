"""Texts and traces for the log, in which whatever looks like a secret is redacted."""

import re
import traceback
from collections.abc import Iterator

HIDDEN = "[hidden]"

# Long runs of the characters that credentials, nonces, keys and digests are written in.
RUN = re.compile(r"[A-Za-z0-9_-]{32,}")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Names in code have no digits and no two capitals in a row; random texts of that length do.
RANDOM = re.compile(r"[0-9]|[A-Z]{2}")

# Spelt out, since with IGNORECASE the search would try to match at every character.
SCHEMES = r"[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc]"
AUTHORIZATION = re.compile(rf"((?:{SCHEMES})\s+)[^\s'\",;]+")
ADDRESS = re.compile(r"://\S+")


def redact_secrets(text: str) -> str:
    """Return the text without credentials, passwords in addresses, and long random texts."""
    text = AUTHORIZATION.sub(rf"\1{HIDDEN}", text)
    text = ADDRESS.sub(_hide_password, text)
    return RUN.sub(_hide_random, text)


def _hide_password(match: re.Match[str]) -> str:
    """Hide all to the last @ of the address: a password may have one, or a slash."""
    _, at, rest = match[0].rpartition("@")
    return f"://{HIDDEN}@{rest}" if at else match[0]


def _hide_random(match: re.Match[str]) -> str:
    run = match[0]
    return HIDDEN if RANDOM.search(run) and not UUID.fullmatch(run) else run


def format_trace(error: BaseException) -> str:
    """Return the trace of an error and its causes, each with its type and the message's first line.

    Further lines quote what was sent: PostgreSQL a whole row, pydantic the wrong input.
    """
    parts = [_write_error(each) for each in _find_causes(error)]
    return redact_secrets("\n".join(reversed(parts)))


def _find_causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _write_error(error: BaseException) -> str:
    says = traceback.format_exception_only(error)[0].partition("\n")[0]
    return "".join(traceback.format_tb(error.__traceback__)) + says
