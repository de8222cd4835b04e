"""The outermost layer: HTTPS, the one host and port, no Origin at the tools, nothing stored."""

import ipaddress
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast
from urllib.parse import unquote

import orjson
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import Resolver404, get_script_prefix, get_urlconf, resolve
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html
from django.utils.translation import get_language
from django.utils.translation import override as override_language
from django.views.decorators.csrf import csrf_exempt
from typing_extensions import override

from agent_access import conf, errors
from agent_access.addresses import API, find_path
from agent_access.bodies import discard_body
from agent_access.request_facts import begin_request

__all__ = ["GateApplication", "GateMiddleware", "ToolMiddleware"]

logger = logging.getLogger(__name__)

ErrorResponder = Callable[[errors.ToolError], HttpResponse]

View = TypeVar("View", bound=Callable[..., Any])

_finders: list[tuple[Callable[[], Iterable[str | None]], ErrorResponder]] = []

# Where a request keeps for whom it was let in.
GUARDED = "agent_access_guarded"
AGENTS, PAGES, REFUSED = "agents", "pages", "refused"
# Where it keeps how refusals are answered at its path, if agents call that.
RESPONDER = "agent_access_responder"

# A host, then the default port of https.
DEFAULT_PORT = re.compile(r"^([^:\[\]]+|\[[^\]]+\]):443$")

UNKNOWN_ADDRESS = "unknown"

TOOL_POLICY = "default-src 'none'; frame-ancestors 'none'"

PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Not allowed</title>"
    '<h1>Not allowed</h1><p>This application answers only at <a href="{url}">{url}</a>.</p></html>'
)
# As much of a header field as the log quotes.
QUOTED_CHARACTERS = 100
# What may be a credential that somebody sent there is left out.
LONG_RUN = re.compile(r"[\w-]{32,}")


class _Request(WSGIRequest):
    """A request as it was sent: with any Content-Type, with some of which Django's own fails."""

    def __init__(self, environ: dict[str, Any]) -> None:
        received = dict(environ)  # Django's constructor decodes the path in place
        try:
            super().__init__(environ)
        # A parameter in an unknown charset (RFC 2231), a NUL, or too long for Django.
        except (BadRequest, ValueError):
            super().__init__({**received, "CONTENT_TYPE": ""})
        # Django would take `get` for GET, though a method's case counts (RFC 9110 section 9.1), and
        # a target that has no path, such as `other.example:443`, for the start page.
        self.method = received["REQUEST_METHOD"]
        if not received.get("PATH_INFO"):
            self.path_info = ""

    # Every browser sends queries and forms in UTF-8. Django would decode them with whichever Python
    # codec the Content-Type names: some fail, and some give lone surrogates, which no database
    # stores.
    encoding = property(lambda _: settings.DEFAULT_CHARSET, lambda _, __: None)

    @property
    @override
    def body(self) -> bytes:
        """The whole body, or an empty one if it broke off.

        Some servers end the stream when the connection breaks off, and half a form would be taken
        for all that somebody typed. An empty form has no CSRF token, so it is refused.
        """
        try:
            body = super().body
        except ValueError:  # Content-Length is no number
            return b""
        return body if self._is_whole(len(body)) else b""

    @override
    def parse_file_upload(self, META: Mapping[str, Any], post_data: Any) -> Any:
        """Return the fields and files of a form in parts; none if it broke off, as for `body`."""
        counted: Any = _Counted(post_data)
        parsed = super().parse_file_upload(META, counted)
        return parsed if self._is_whole(counted.size) else (QueryDict(), MultiValueDict())

    def _is_whole(self, size: int) -> bool:
        try:
            return size >= int(self.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            return False


class _Counted:
    """A stream that counts the bytes that were read of it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.size = 0

    def read(self, *size: int) -> bytes:
        read: bytes = self._stream.read(*size)
        self.size += len(read)
        return read


class GateApplication(WSGIHandler):
    """The WSGI application to serve: no request fails before it reaches the gate."""

    request_class = _Request


class GateMiddleware:
    """Comes first in MIDDLEWARE, so that nothing in Django can answer before it.

    It knows where a project includes the routes for agents. Whatever reaches a view of theirs in
    another way is checked there (`guard`). Pages are its matter where GUARDS_WHOLE_SITE says so;
    otherwise they are answered as without it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = begin_request(client_address(request))
        respond = request.__dict__[RESPONDER] = _find_responder(request)
        try:
            if respond:
                guard(request)
            elif conf.guards_whole_site():
                guard_page(request)
        except errors.ForbiddenError as error:
            response = _refuse(respond, error)
        else:
            response = self.get_response(request)
        return _finish(request, response, request_id) if _guard_of(request) else response


def _finish(request: HttpRequest, response: HttpResponse, request_id: str) -> HttpResponse:
    discard_body(request)
    # An immutable one is a static file with the digest of its content in its name.
    if "immutable" not in response.get("Cache-Control", ""):
        response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Request-Id"] = request_id
    return response


class ToolMiddleware:
    """Answers requests to the tools itself, without the middleware that comes after it.

    That middleware is for pages: sessions, sign-in and CSRF have no say here (ADR 8), and would add
    a sixth to the time of a read. Should a browser show an answer, it may load and run nothing.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        respond: ErrorResponder | None = request.__dict__.get(RESPONDER)  # as the gate found it
        if not respond:
            return self.get_response(request)
        try:
            # As Django's handler would behind all middleware.
            request.resolver_match = match = resolve(request.path_info)
            with override_language(None):  # programs read what the source says
                response: HttpResponse = match.func(request, *match.args, **match.kwargs)
        except Resolver404:
            response = respond(errors.NotFoundError())
        response["Content-Security-Policy"] = TOOL_POLICY
        return response


def client_address(request: HttpRequest) -> str:
    """Return the address of the client: the socket's peer, or what the trusted proxies saw.

    With n trusted proxies it is the n-th entry from the right of X-Forwarded-For. Where neither is
    an IP address, it is `unknown`.
    """
    proxies = conf.trusted_proxies()
    entries = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    candidates = [request.META.get("REMOTE_ADDR", "")]
    if 0 < proxies <= len(entries):
        candidates.insert(0, entries[-proxies].strip())
    return next(filter(None, map(_normalise_address, candidates)), UNKNOWN_ADDRESS)


def _normalise_address(text: str) -> str:
    """Return the canonical form of an IP address, without its zone; empty for anything else."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def register_paths(find: Callable[[], Iterable[str | None]], respond: ErrorResponder) -> None:
    """Register how refusals are answered at paths that agents call, and at all paths below.

    `find` returns them as the project includes them, and None for one that it does not include.
    """
    _finders.append((find, respond))


def agents_view(view: View) -> View:
    """Let a view ask for no session and no form token, and begin its transactions itself."""
    return transaction.non_atomic_requests(csrf_exempt(login_not_required(view)))


def guards_page(view: View) -> View:
    """Let a page answer at BASE_URL only, whether or not the gate guards the whole site."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            guard_page(request)
        except errors.ForbiddenError as error:
            return _refuse(None, error)
        answer: HttpResponse = view(request, *args, **kwargs)
        return answer

    return cast("View", guarded)


def guard(request: HttpRequest) -> None:
    """Check once that an agent's request came over HTTPS to BASE_URL, and without an Origin.

    Raises ForbiddenError. Cookies never authenticate a call, so nothing at the tools may see them
    (ADR 8).
    """
    if _guard_of(request) != AGENTS:
        request.META.pop("HTTP_COOKIE", None)
        request.__dict__.pop("COOKIES", None)  # where somebody has read them already
        _require_no_fault(request, at_tools=True)
        request.__dict__[GUARDED] = AGENTS


def guard_page(request: HttpRequest) -> None:
    """Check once that a request came over HTTPS to BASE_URL; raise ForbiddenError."""
    if _guard_of(request) not in {AGENTS, PAGES}:
        _require_no_fault(request, at_tools=False)
        request.__dict__[GUARDED] = PAGES


def _guard_of(request: HttpRequest) -> str | None:
    """Return for whom the request was let in, or that it was refused; None if nobody asked."""
    return request.__dict__.get(GUARDED)


def _find_responder(request: HttpRequest) -> ErrorResponder | None:
    path = request.path_info
    known = _known_paths(
        get_urlconf() or settings.ROOT_URLCONF, get_script_prefix(), get_language()
    )
    fitting = (prefix for prefix in known if path == prefix or path.startswith(f"{prefix}/"))
    return next((known[prefix] for prefix in fitting), None)


@lru_cache(maxsize=64)
def _known_paths(urlconf: str, prefix: str, language: str) -> dict[str, ErrorResponder]:
    """Return how refusals are answered, by the paths of agents without the script prefix."""
    found = [(path, respond) for find, respond in _finders for path in find() if path]
    return {
        f"/{unquote(path).removeprefix(prefix).removeprefix('/')}": respond
        for path, respond in found
    }


def _require_no_fault(request: HttpRequest, *, at_tools: bool) -> None:
    faults = list(_find_faults(request, at_tools=at_tools))
    if faults:
        request.__dict__[GUARDED] = REFUSED
        logger.warning("A request was refused: %s.", "; ".join(seen for _, seen in faults))
        raise errors.ForbiddenError(faults[0][0])
    # In the form in which BASE_URL is kept: Django compares it with that of Origin and Referer.
    request.META["HTTP_HOST"] = conf.base_url().split("://", 1)[1]


def _find_faults(request: HttpRequest, *, at_tools: bool) -> Iterator[tuple[str, str]]:
    """Yield what keeps the request out, if anything does: for whoever sent it, and for the log.

    A target in absolute form has a host of its own, which should count instead of the Host header
    (RFC 9112 section 3.2.2). WSGI does not have to tell it, and granian does not where there is a
    Host header.
    """
    own_scheme, own_host = conf.base_url().split("://", 1)
    # The host and port in the form in which BASE_URL is kept.
    host = DEFAULT_PORT.sub(r"\1", request.META.get("HTTP_HOST", "").lower())
    if host != own_host:
        yield errors.OTHER_HOST, f"Host is {_quote(request, 'HTTP_HOST')}, not {own_host}"
    if not request.path_info.startswith("/"):  # `*` and `host:port` name no place here
        yield errors.OTHER_HOST, "its target has no path"
    scheme = _scheme(request)
    if scheme != own_scheme and conf.trusted_proxies():
        seen = _quote(request, "HTTP_X_FORWARDED_PROTO")
        yield errors.NOT_HTTPS, f"X-Forwarded-Proto is {seen}, not {own_scheme}"
    elif scheme != own_scheme:
        yield errors.NOT_HTTPS, f"it came over {scheme}, and TRUSTED_PROXIES is 0"
    if at_tools and "HTTP_ORIGIN" in request.META:
        yield errors.ORIGIN_SENT, "it has an Origin header"


def _scheme(request: HttpRequest) -> str:
    if conf.trusted_proxies():
        # Every proxy adds an entry, and each must have been called over HTTPS.
        seen = request.META.get("HTTP_X_FORWARDED_PROTO", "").split(",")
        return "https" if all(entry.strip() == "https" for entry in seen) else "http"
    # Not request.scheme, which a project may let a header decide.
    scope = getattr(request, "scope", None)
    return str(request.META["wsgi.url_scheme"] if scope is None else scope["scheme"])


def _refuse(respond: ErrorResponder | None, error: errors.ForbiddenError) -> HttpResponse:
    """Return the refusal, with the policy of the tools, which is enough for the page too."""
    page = format_html(PAGE, url=conf.base_url())
    response = respond(error) if respond else HttpResponse(page, status=error.status)
    response["Content-Security-Policy"] = TOOL_POLICY
    return response


def _quote(request: HttpRequest, name: str) -> str:
    value: str | None = request.META.get(name)
    return "missing" if value is None else ascii(LONG_RUN.sub("...", value)[:QUOTED_CHARACTERS])


def refuse_as_json(error: errors.ToolError) -> HttpResponse:
    """Return the refusal in the form of the HTTP tools."""
    return HttpResponse(
        orjson.dumps(error.body()),
        status=error.status,
        headers=error.headers,
        content_type="application/json",
    )


register_paths(lambda: [find_path(API)], refuse_as_json)
