"""The error pages for failures that no view handles."""

import sys
from collections.abc import Callable
from http import HTTPStatus

from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader

# A lock times out after seconds; a database is back within a minute, or somebody has to look at it.
RETRY_AFTER_SECONDS = 60
NUL = "\0"


def answer_failure(request: HttpRequest) -> HttpResponse:
    """Return the page for the exception that Django is handling and logging: the `handler500`."""
    failure = sys.exc_info()[1]
    if isinstance(failure, _unreachable()):
        return show_unavailable()
    if isinstance(failure, DataError) and _holds_nul(request):
        return _show("400.html", HTTPStatus.BAD_REQUEST)
    return _show("500.html", HTTPStatus.INTERNAL_SERVER_ERROR)


def _unreachable() -> tuple[type[Exception], ...]:
    """Return the exceptions of a database or cache that does not answer, or takes no writes."""
    from redis.exceptions import RedisError  # noqa: PLC0415  a start need not wait for the library

    return OperationalError, InterfaceError, InternalError, RedisError


def show_unavailable() -> HttpResponse:
    """Return the page for a lock that timed out, or a database or cache that is gone."""
    response = _show("503.html", HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def explain_methods(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: put a page into Django's empty answers to methods that are not allowed."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not response.content:
            response.content = loader.get_template("405.html").render().encode()
        return response

    return answer


def _show(template: str, status: HTTPStatus) -> HttpResponse:
    # Without the request: the navigation of a page would query the database again.
    return HttpResponse(loader.get_template(template).render(), status=status)


def _holds_nul(request: HttpRequest) -> bool:
    """Return whether a text was sent that PostgreSQL cannot hold."""
    sent = (request.GET, request.POST)
    return any(NUL in text for values in sent for _, texts in values.lists() for text in texts)
