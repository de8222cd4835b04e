"""REST framework's request as the tools need it, and the admission of any of its requests."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from django.core.signing import Signer
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework.request import Request
from typing_extensions import override

from agent_access import conf
from agent_access.admission import Admission
from agent_access.callers import Caller
from agent_access.models.audit import Transport
from agent_access.request_facts import current_facts


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


class CallRequest(Request):
    """The request of a view that a tool runs: its user is known, and its data are the tool's input.

    `auth` is the Caller, or None where a record is looked for again.
    """

    def __init__(
        self, request: HttpRequest, *, user: Any, auth: Caller | None, data: Mapping[str, Any]
    ) -> None:
        super().__init__(request)
        self.user, self.auth = user, auth
        self._authenticator = None  # else asking for it would authenticate, and find nobody
        self._data = self._full_data = data
        self._files: MultiValueDict[str, Any] = MultiValueDict()


class _MadeRequest(HttpRequest):
    """A request that nobody sent over HTTP, such as that of a call over MCP."""

    @override
    def _get_scheme(self) -> str:  # type: ignore[misc]  # Django's, of which its types know nothing
        return conf.base_url().split("://")[0]


class _Arrival(NamedTuple):
    """A request to an address of the project's own, and with what its view was made there."""

    request: HttpRequest
    options: Mapping[str, Any]


_arrival: ContextVar[_Arrival | None] = ContextVar("arrival", default=None)


@contextmanager
def arrived_at_view(request: HttpRequest, *, options: Mapping[str, Any]) -> Iterator[None]:
    """Let tools run their views with this request, which came to the view's own address.

    `options` are the arguments of the view's `as_view` there.
    """
    token = _arrival.set(_Arrival(request, options))
    try:
        yield
    finally:
        _arrival.reset(token)


def find_options(usual: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the view's options at the address where the request came, or the usual ones."""
    arrival = _arrival.get()
    return arrival.options if arrival else usual


def make_request(user: Any, *, method: str, path: str, query: QueryDict) -> HttpRequest:
    """Return the request for a view: that which arrived, or one with the path that is given.

    It has no cookie and no session, since neither has a say in a call (ADR 8), and in place of the
    credential a name of the user, so that a page that is cached by either is that user's alone. It
    is signed, or anybody could send it and leave a page of theirs for that user's agents.
    """
    arrival = _arrival.get()
    arrived = arrival.request if arrival else None
    request: Any = _copy(arrived) if arrived else _MadeRequest()
    own = {
        "HTTP_HOST": conf.base_url().split("://")[1],
        "REMOTE_ADDR": current_facts().client_address,
    }
    name = f"agent={Signer(salt=__name__).sign(str(user.pk))}"
    request.META = {
        **(arrived.META if arrived else own),
        "REQUEST_METHOD": method,
        "QUERY_STRING": query.urlencode(),
        "HTTP_AUTHORIZATION": name,
        "HTTP_COOKIE": name,
    }
    request.GET, request.COOKIES = query, {}
    if hasattr(request, "session"):
        request.session = type(request.session)()
    if not arrived:
        request.method, request.path, request.path_info = method, path, path
    made: HttpRequest = request
    return made


def _copy(request: HttpRequest) -> HttpRequest:
    """Return another request with all that this one holds; `copy` would drop its scheme."""
    other = type(request).__new__(type(request))
    vars(other).update(vars(request))
    return other
