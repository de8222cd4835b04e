"""Serves the project below /desk, on a socket that listens already, as its test passes it on."""

import socket
import sys
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.core.wsgi import get_wsgi_application
from typing_extensions import override

SUB_PATH = "/desk"


class QuietHandler(WSGIRequestHandler):
    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the test reads the answers."""


def mount(application: Any) -> Any:
    """Return the application below the sub-path, as a web server that has several would."""

    def serve(environ: dict[str, Any], start_response: Any) -> Any:
        path = environ["PATH_INFO"]
        if path.startswith(f"{SUB_PATH}/"):
            environ |= {"SCRIPT_NAME": SUB_PATH, "PATH_INFO": path.removeprefix(SUB_PATH)}
        elif not path.startswith("/.well-known/"):
            start_response("404 Not Found", [("Content-Length", "0")])
            return []
        return application(environ, start_response)

    return serve


if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    server = WSGIServer(listening.getsockname(), QuietHandler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.server_name, server.server_port = listening.getsockname()
    server.setup_environ()
    server.set_app(mount(get_wsgi_application()))
    server.serve_forever()
