"""The JSON document at a stranger's address."""

from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPResponse

from agent_access import outgoing
from agent_access.outgoing import MAX_BYTES, OutgoingError


@dataclass(frozen=True)
class Document:
    body: bytes
    cache_control: str


def fetch(url: str) -> Document:
    """Return the JSON document at an https address; raise OutgoingError if there is none."""
    with outgoing.request("GET", url, {"Accept": "application/json"}) as response:
        return _read(response)


def _read(response: HTTPResponse) -> Document:
    kind = response.headers.get_content_type()
    is_json = kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )
    if response.status != HTTPStatus.OK or not is_json:
        raise OutgoingError
    body = response.read(MAX_BYTES + 1)
    is_whole = not response.length  # response.length: the bytes still missing
    if len(body) > MAX_BYTES or not is_whole:
        raise OutgoingError
    return Document(body, response.headers.get("Cache-Control", ""))
