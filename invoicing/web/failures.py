"""What a person reads when something fails that no page foresaw."""

import sys
from collections.abc import Callable
from http import HTTPStatus

from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader

# A lock is given up after seconds; a database comes back within a minute, or somebody looks at it.
RETRY_AFTER_SECONDS = 60
NUL = "\0"


def answer_failure(request: HttpRequest) -> HttpResponse:
    """Answer for the exception that Django is handling, and logs: its `handler500`."""
    failure = sys.exc_info()[1]
    if isinstance(failure, _unreachable()):
        return show_unavailable()
    if isinstance(failure, DataError) and _holds_nul(request):
        return _show("400.html", HTTPStatus.BAD_REQUEST)
    return _show("500.html", HTTPStatus.INTERNAL_SERVER_ERROR)


def _unreachable() -> tuple[type[Exception], ...]:
    """Return what says that the database or the cache does not answer, or takes no writes."""
    from redis.exceptions import RedisError  # noqa: PLC0415  a start need not wait for the library

    return OperationalError, InterfaceError, InternalError, RedisError


def show_unavailable() -> HttpResponse:
    """Return the page for a lock that was not got in time, or a database or cache that is gone."""
    response = _show("503.html", HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def explain_methods(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: show a page where Django says with an empty one that only a form comes here."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not response.content:
            response.content = loader.get_template("405.html").render().encode()
        return response

    return answer


def _show(template: str, status: HTTPStatus) -> HttpResponse:
    # Without the request: the head of a page would ask the database once more.
    return HttpResponse(loader.get_template(template).render(), status=status)


def _holds_nul(request: HttpRequest) -> bool:
    """Tell whether a text was sent that PostgreSQL cannot hold."""
    sent = (request.GET, request.POST)
    return any(NUL in text for values in sent for _, texts in values.lists() for text in texts)
