"""Which revision of MCP speaks, and what its answers look like.

A modern request names its revision in `params._meta` and in its headers; a legacy one was
negotiated by `initialize`, which this stateless server does not remember: the header tells.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http.request import HttpHeaders
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY
from mcp_types.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.methods import serialize_server_result

from agent_access.fields import safe_name
from mcp_gateway.jsonrpc import Message, ProtocolError

LEGACY_VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")
# Those that are implemented below: mcp-types may know a later one before we do.
MODERN_VERSIONS = ("2026-07-28",)
SUPPORTED_VERSIONS = (*LEGACY_VERSIONS, *MODERN_VERSIONS)

VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"
META = "_meta"
INITIALIZE = "initialize"

ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/]*={0,2})\?=")


@dataclass(frozen=True)
class Era:
    """One revision and the shape of its answers."""

    version: str

    @property
    def is_modern(self) -> bool:
        return self.version in MODERN_VERSIONS

    @property
    def unknown_method_status(self) -> HTTPStatus:
        return HTTPStatus.NOT_FOUND if self.is_modern else HTTPStatus.OK

    def shape(
        self, method: str, result: dict[str, Any], *, server: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the result with the fields of this revision's schema, and no others."""
        if self.is_modern:
            meta = {SERVER_INFO_META_KEY: server}
            result = {"resultType": "complete", **result, META: meta}
        return serialize_server_result(method, self.version, result)


def find_era(message: Message, environ: Mapping[str, Any]) -> Era:
    """Return the revision of a message.

    Raises ProtocolError for one that is not supported, or if headers and body disagree about it.
    `initialize` negotiates in its body, whatever the version header says: a client may send the one
    that it would like to speak. MCP's three headers are read from META: `request.headers` would
    first convert them all.
    """
    claim, header = _claimed_version(message), _read(environ, VERSION_HEADER)
    if message.method == INITIALIZE and claim in (None, *LEGACY_VERSIONS):
        header = None
    if message.is_notification:
        return _find_notification_era(message, claim, header)
    if claim in (None, *LEGACY_VERSIONS) and header in (None, *LEGACY_VERSIONS):
        if claim and header and claim != header:
            raise _mismatch(message, VERSION_HEADER)
        return Era(claim or header or LEGACY_VERSIONS[0])
    if claim is None and header not in SUPPORTED_VERSIONS:
        raise _unsupported(message, header)
    _check_modern(message, claim, environ)
    return Era(claim)


def _claimed_version(message: Message) -> Any:
    meta = message.params.get(META)
    return meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None


def _read(environ: Mapping[str, Any], header: str) -> str | None:
    """Return a header value without the white space that may stand around it."""
    value: str | None = environ.get(HttpHeaders.to_wsgi_name(header))
    return value if value is None else value.strip(" \t")


def _find_notification_era(message: Message, claim: Any, header: str | None) -> Era:
    """Refuse unknown versions; no revision says which headers a notification must have."""
    for version in (header, claim):
        if version not in (None, *SUPPORTED_VERSIONS):
            raise _unsupported(message, version)
    return Era(header or claim or LEGACY_VERSIONS[0])


def _check_modern(message: Message, claim: Any, environ: Mapping[str, Any]) -> None:
    """Check in the order of revision 2026-07-28; raise ProtocolError for what fails first."""
    meta = message.params.get(META)
    if not isinstance(meta, dict) or not isinstance(claim, str):
        raise _invalid_params(message, f"params.{META} must name the protocol version.")
    if not isinstance(meta.get(CLIENT_CAPABILITIES_META_KEY), dict):
        raise _invalid_params(message, f"params.{META} must name the client's capabilities.")
    if _read(environ, VERSION_HEADER) != claim:
        raise _mismatch(message, VERSION_HEADER)
    if _read(environ, METHOD_HEADER) != message.method:
        raise _mismatch(message, METHOD_HEADER)
    if message.method == "tools/call" and not _names_its_tool(message, environ):
        raise _mismatch(message, NAME_HEADER)
    if claim not in MODERN_VERSIONS:
        raise _unsupported(message, claim)


def _names_its_tool(message: Message, environ: Mapping[str, Any]) -> bool:
    name = _decode(_read(environ, NAME_HEADER))
    return name is not None and name == message.params.get("name")


def _decode(value: str | None) -> str | None:
    """Return the decoded value: plain, or UTF-8 in `=?base64?...?=`; None if that is malformed."""
    match = ENCODED.fullmatch(value or "")
    if match is None:
        return value
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _invalid_params(message: Message, text: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, text, id=message.id)


def _mismatch(message: Message, header: str) -> ProtocolError:
    text = f"The header {header} is missing or does not match the body."
    return ProtocolError(HEADER_MISMATCH, text, id=message.id)


def _unsupported(message: Message, requested: Any) -> ProtocolError:
    data = {"supported": list(SUPPORTED_VERSIONS), "requested": safe_name(str(requested))}
    text = "This revision of MCP is not supported."
    return ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, text, data=data, id=message.id)
