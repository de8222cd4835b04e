"""Serves the project on a socket that listens already, as its test passes it on."""

import os
import socket
import sys
from importlib import import_module
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from typing_extensions import override


class QuietHandler(WSGIRequestHandler):
    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the test reads the answers."""


if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notes.settings")
    server = WSGIServer(listening.getsockname(), QuietHandler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.server_name, server.server_port = listening.getsockname()
    server.setup_environ()
    server.set_app(
        import_module(f"{os.environ['DJANGO_SETTINGS_MODULE'].partition('.')[0]}.wsgi").application
    )
    server.serve_forever()
