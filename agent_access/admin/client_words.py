"""What is known of a connection's client, how it is renewed, and what revoking stops, in words.

What a client says of itself is told apart from what this service has seen for itself.
"""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent_access import discovery
from agent_access.models import Connection, ConnectionKind

# Hosts of the computer on which a client runs (RFC 8252, section 7.3).
LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")

STOPS: dict[str, tuple[str | Promise, ...]] = {
    ConnectionKind.PASTED: (
        gettext_lazy("Its credential is refused from the next call on."),
        gettext_lazy("A call that is running now ends without having changed anything."),
        gettext_lazy("What it asked its person to approve can no longer be carried out."),
    ),
    ConnectionKind.BROWSER: (
        gettext_lazy("Its access and refresh tokens are refused from the next call on."),
        gettext_lazy("A call that is running now ends without having changed anything."),
        gettext_lazy("What it asked its person to approve can no longer be carried out."),
        gettext_lazy("The client may ask again, and gets access only if you allow it."),
    ),
}


def describe_client(connection: Connection) -> dict[str, Any]:
    """Describe who is behind a connection: `verified` is what was seen, `said` its own word."""
    if connection.kind == ConnectionKind.PASTED:
        verified = _("Nothing: it is whatever program was given the credential.")
        return {"is_known": False, "verified": verified, "facts": []}
    host = {"host": connection.client_host, "address": connection.client_id}
    is_known = connection.client_id.startswith("https://")
    if is_known:
        verified = _(
            "Its home is %(host)s: this service read its description there, at %(address)s."
        )
    elif connection.client_host in LOOPBACK:
        verified = _("Nothing but that it answered on the computer from which access was asked.")
    else:
        verified = _("Only that access was sent to %(host)s. It registered itself.")
    facts = [
        (_("Calls itself"), connection.client_name),
        (_("Client's host"), connection.client_host),
        (_("Client's identifier"), connection.client_id),
    ]
    return {"is_known": is_known, "verified": verified % host, "facts": facts}


def describe_renewal(connection: Connection, *, is_live: bool) -> dict[str, Any]:
    """Describe how access goes on after a connection; whoever approves decides once more."""
    is_pasted = connection.kind == ConnectionKind.PASTED
    return {
        "is_pasted": is_pasted,
        "is_live": is_live,
        "address": discovery.tell_addresses().get("mcp_address", ""),
    }


def tell_stops(connections: list[Connection]) -> list[str | Promise]:
    """Return what revoking these connections stops, each sentence once."""
    sentences = (each for connection in connections for each in STOPS[connection.kind])
    return list({str(each): each for each in sentences}.values())
