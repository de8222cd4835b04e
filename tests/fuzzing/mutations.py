"""Valid calls, spoilt: in the structure of their JSON, in their bytes, in their header fields."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from tests.agents import HOST
from tests.hostile.target import WSGI_ENVIRON

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

Path = tuple[str | int, ...]
Draw = st.DrawFn


@dataclass(frozen=True)
class Call:
    """One HTTP request, byte by byte; a header field that is None is not sent."""

    method: str
    path: str
    body: bytes = b""
    query: str = ""
    headers: Mapping[str, str | None] = field(default_factory=dict)

    def environ(self) -> dict[str, Any]:
        """Return the request as a WSGI server would hand it over."""
        sent = {"Host": HOST, "Content-Length": str(len(self.body))} | dict(self.headers)
        names = {name: "HTTP_" + name.upper().replace("-", "_") for name in sent}
        names |= {"Content-Length": "CONTENT_LENGTH", "Content-Type": "CONTENT_TYPE"}
        fields = {names[name]: value for name, value in sent.items() if value is not None}
        line = {"REQUEST_METHOD": self.method, "PATH_INFO": self.path, "QUERY_STRING": self.query}
        return WSGI_ENVIRON | line | fields


BOUNDARY_TEXTS = (
    *("", " ", "\t", "\n", "\x00", "\x85", "\ud800", "\u202e", "\ufeff", "\U0001f600", "x" * 5001),
    *("0", "-0", "00", "01", "0.0001", "0.00001", "1.0", "1e5", "+1", "-1", "\u0663", "0x10"),
    *("9" * 11, "9" * 18, "9" * 19, "9" * 400, "NaN", "null", "true", "percent", "amount"),
    *("0000-01-01", "9999-12-31", "2026-02-30", "2026-3-2", "2026-03-02T00:00:00Z"),
    *("00000000-0000-0000-0000-000000000000", "01A1FB8B-EFC0-71C1-99D2-A7735C6388FF"),
    *("EUR", "JPY", "XXX", "eur", "en", "zz", "../..", "' OR 1=1 --", "{{7*7}}", "%00"),
    "__proto__",
)
BOUNDARIES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31 - 1, 2**31, 2**63, 10**400, 1.0, 1.5, -0.0, 1e308),
    *([], {}, [[]], [{}], [None], {"": None}, {"a": {"a": {"a": []}}}),
    *BOUNDARY_TEXTS,
)
ODD_TEXTS = st.text(st.characters(exclude_categories=()), max_size=9)
ODD_VALUES = st.sampled_from(BOUNDARIES) | st.recursive(
    st.integers() | st.floats() | ODD_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD_TEXTS, inner, max_size=3),
    max_leaves=8,
)

BYTES = (
    *(b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\r\n"),
    *(b"NaN", b"-Infinity", b"1e999", b"-", b"'", b'"', b"\\", b"\\ud800", b"\\u0000", b"/*x*/"),
    *(b"{", b"}", b"[", b"]", b",", b":", b'"a":1,"a":2,', b"[" * 40, b"{" * 5000, b" " * 2000),
    *(b"&", b"=", b"%", b"%zz", b"%00", b"%c0%80", b"+", b";", b"?", b"#"),
)
ODD_BYTES = st.sampled_from(BYTES) | st.binary(min_size=1, max_size=4)

FIELDS: Mapping[str, tuple[str | None, ...]] = {
    "Authorization": (None, "", "Bearer", "Bearer ", "Basic eDp5", "Bearer a, Bearer b", "\xff"),
    "Content-Type": (
        *(None, "", "text/plain", FORM, "application/json; charset=utf-16", "application/json;"),
        *("application/json; charset*=x''utf-8", "APPLICATION/JSON", "\x00", "a" * 9000, "*/*"),
    ),
    "Content-Length": (None, "", "0", "1", "-1", "+5", "5, 5", "1e3", "262145", "9" * 30, "\xb2"),
    "Idempotency-Key": (None, "", " ", "a b", "\xe9", "k" * 80, "k" * 81, "a,a", "\x00"),
    "MCP-Protocol-Version": (None, "", "2025-03-26", "2026-07-28", "2031-01-01", "\xff"),
    "Mcp-Method": (None, "", "tools/call", "tools/list", "=?base64?eA==?="),
    "Mcp-Name": (None, "", "drafts_create", "=?base64?/w==?=", "=?base64?x?=", "\xff"),
    "Accept": ("", "text/html", "*/*;q=0", "\x00"),
    "Host": (
        *(None, "", "other.example", f"{HOST}:443", f"{HOST}:0", HOST.upper(), "[::1", "\xff"),
    ),
    "Origin": ("", "null", f"https://{HOST}"),
    "Cookie": ("sessionid=x; " * 99, "\x00=;=;\xff"),
    "X-Forwarded-Proto": ("http", "\xff"),
    "X-Forwarded-For": ("127.0.0.1, ::1", "\xff"),
    "Accept-Language": ("de", "\xff" * 99),
    "X-Http-Method-Override": ("DELETE",),
}


@st.composite
def spoilt(draw: Draw, call: Call) -> Call:
    """Draw the call with something wrong, here or there, and now and then with nothing wrong."""
    if call.body:
        call = replace(call, body=draw(spoilt_bodies(call)))
    if draw(st.booleans()) or not call.body:
        call = replace(call, query=draw(spoilt_queries(call.query)))
    if draw(st.integers(0, 3)) == 0:
        call = replace(call, path=draw(spoilt_paths(call.path)))
    if draw(st.integers(0, 9)) == 0:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", "X", "\xff"]
        call = replace(call, method=draw(st.sampled_from(methods)))
    names = draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=2))
    changes = {name: draw(st.sampled_from(FIELDS[name])) for name in names}
    return replace(call, headers={**call.headers, **changes})


@st.composite
def spoilt_bodies(draw: Draw, call: Call) -> bytes:
    """Draw the body with its structure spoilt, or its bytes, or both."""
    body, times = call.body, draw(st.integers(0, 3))
    if times and call.headers.get("Content-Type") == JSON:
        value = json.loads(body)
        for _ in range(times):
            value = draw(spoilt_values(value))
        body = write(value, ascii_only=draw(st.booleans()))
    edits = draw(st.integers(0, 2 if times else 4))
    for _ in range(edits):
        body = draw(spoilt_bytes(body))
    return body


@st.composite
def spoilt_values(draw: Draw, value: Any) -> Any:
    """Draw the JSON value with one place of it replaced, left out, moved, doubled or wrapped."""
    path = draw(st.sampled_from([*paths_of(value)]))
    found = read(value, path)
    kind = draw(st.sampled_from(["odd", "odd", "moved", "without", "wrapped", "added", "doubled"]))
    if kind == "without" and path:
        return changed(value, path, delete=True)
    if kind == "moved":
        return changed(value, path, read(value, draw(st.sampled_from([*paths_of(value)]))))
    if kind == "wrapped":
        return changed(value, path, draw(st.sampled_from([[found], {"value": found}, str(found)])))
    if kind == "added" and isinstance(found, dict):
        return changed(value, path, {**found, draw(st.sampled_from(NAMES)): draw(ODD_VALUES)})
    if kind == "doubled" and isinstance(found, list):
        return changed(value, path, found * draw(st.sampled_from([2, 101])))
    return changed(value, path, draw(ODD_VALUES))


NAMES = (
    *("id", "status", "number", "grand_total", "lock_version", "nonce", "_meta", "cursor"),
    *("result", "\ud800", "", "x"),
)


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every place in a JSON value, the whole first."""
    yield path
    if not isinstance(value, dict | list):
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from paths_of(inner, (*path, key))


def read(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def changed(value: Any, path: Path, new: Any = None, *, delete: bool = False) -> Any:
    """Return a copy of the value with something else, or nothing, at the path."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else [*value]
    if delete and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(value[path[0]], path[1:], new, delete=delete)
    return copy


def write(value: Any, *, ascii_only: bool) -> bytes:
    """Return the value as JSON: a lone surrogate as the three bytes that UTF-8 does not have."""
    return json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")


@st.composite
def spoilt_bytes(draw: Draw, body: bytes) -> bytes:
    """Draw the bytes with a bit turned, a part cut out, doubled or put in, or the end missing."""
    at = draw(st.integers(0, max(len(body) - 1, 0)))
    end = at + draw(st.integers(1, 12))
    kind = draw(st.sampled_from(["bit", "cut", "doubled", "put in", "replaced", "end"]))
    if kind == "bit" and body:
        return body[:at] + bytes([body[at] ^ 1 << draw(st.integers(0, 7))]) + body[at + 1 :]
    if kind == "cut":
        return body[:at] + body[end:]
    if kind == "doubled":
        return body[:end] + body[at:]
    if kind == "end":
        return body[:at]
    return body[:at] + draw(ODD_BYTES) + body[end if kind == "replaced" else at :]


@st.composite
def spoilt_queries(draw: Draw, query: str) -> str:
    """Draw the query string with other bytes, as a WSGI server hands them over."""
    raw = query.encode("latin-1")
    for _ in range(draw(st.integers(0, 2))):
        raw = draw(spoilt_bytes(raw))
    return raw.decode("latin-1")


@st.composite
def spoilt_paths(draw: Draw, path: str) -> str:
    """Draw the path with another last or middle segment, or with other bytes in it."""
    segments = path.split("/")
    place = draw(st.integers(1, len(segments) - 1))
    odd = draw(st.sampled_from(BOUNDARY_TEXTS) | ODD_TEXTS)
    segments[place] = odd.encode(errors="surrogatepass").decode("latin-1")
    return "/".join(segments)
