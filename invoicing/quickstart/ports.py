"""Checks that a port is free, before settings are stored; does not import Django."""

import errno
import socket
from urllib.parse import urlsplit

from invoicing.application_url import port_of
from invoicing.quickstart.errors import QuickstartError

REFUSALS = {
    errno.EADDRINUSE: "Port {port} is taken: stop what uses it, or choose another with --port.",
    errno.EACCES: "Port {port} is not for everybody: choose one above 1023 with --port.",
}


def require_free_port(base_url: str) -> None:
    """Raise QuickstartError if the port is not free at an address that the host resolves to."""
    host, port = urlsplit(base_url).hostname, port_of(base_url)
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        try:
            with socket.socket(family, kind, protocol) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind(address)
        except OSError as error:
            # Any other error means that the machine lacks this kind of address, such as IPv6.
            if error.errno in REFUSALS:
                raise QuickstartError(REFUSALS[error.errno].format(port=port)) from None
