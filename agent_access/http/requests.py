"""REST framework's request as the tools need it, and the admission of any of its requests."""

from rest_framework.request import Request
from typing_extensions import override

from agent_access.admission import Admission
from agent_access.models.audit import Transport


class ToolRequest(Request):
    """A request whose body the parser alone judges, when `data` is first asked for.

    REST framework would take a body without Content-Length for none, and not ask the parser.
    """

    @override
    def _load_stream(self) -> None:
        self._stream = self._request


def admission_of(request: Request) -> Admission:
    """Return the request's admission, made when it is first asked for."""
    if not hasattr(request, "admission"):
        received = request._request  # noqa: SLF001  REST framework's name for Django's own
        request.admission = Admission(received, transport=Transport.HTTP)
    admission: Admission = request.admission
    return admission
