"""Ports for the servers that tests start."""

import socket


def free_port() -> int:
    """Return a port of this machine on which nothing listens now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
