"""What all pages have in common: permissions, allowed methods, and 403 or 404."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from invoicing.access import Permission
from invoicing.errors import PermissionMissingError, RecordNotFoundError
from invoicing.models import Company, User
from invoicing.rights import may_create_company
from invoicing.web.askable import whom_to_ask

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

# The query parameter of a document's page with which it says that it was just written or issued.
DONE = "done"
# The same, where it had been issued before in another way.
ALREADY = "already"


class SignedInRequest(HttpRequest):
    """A request behind SignedInMiddleware, whose user is a User; for type checkers."""

    user: User


@contextmanager
def refused_as_pages() -> Iterator[None]:
    """Answer 403 for a PermissionMissingError, and 404 for a RecordNotFoundError."""
    try:
        yield
    except PermissionMissingError:
        raise PermissionDenied from None
    except RecordNotFoundError:
        raise Http404 from None


def page(
    *permissions: Permission, methods: tuple[str, ...] = ("GET",), keeps_typed: bool = False
) -> Callable[[View], View]:
    """Decorate a view: 403 without all these permissions, and what refused_as_pages() answers.

    409 if the view needs the company, and there is none yet.

    With `keeps_typed`, a form that is sent too late comes back as POST with late_forms.RESUME, and
    the view has to show what was typed.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        @refused_as_pages()
        def guarded(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_perms(permissions):
                raise PermissionDenied
            try:
                return view(request, *args, **kwargs)
            except Company.DoesNotExist:
                return _show_no_company(request)

        allowed = [*methods, "HEAD"] if "GET" in methods else [*methods]
        guarded.permissions = permissions  # type: ignore[attr-defined]  # read by a test that walks the routes
        guarded.keeps_typed = keeps_typed  # type: ignore[attr-defined]  # read where nobody has signed in
        return require_http_methods(allowed)(guarded)  # type: ignore[return-value]  # wraps keeps the signature

    return decorate


def _show_no_company(request: SignedInRequest) -> HttpResponse:
    context = {"may_add_company": may_create_company(request.user), "ask": whom_to_ask()}
    return render(request, "invoicing/no_company.html", context, status=HTTPStatus.CONFLICT)


def read_number(data: QueryDict, name: str) -> int:
    """Return a number that a form holds in a button or hidden field; 0 for anything else."""
    text = data.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004  fits a column


def show_done(pk: UUID) -> HttpResponse:
    """Redirect to the page of a document that was just written or issued, which says so."""
    return redirect(f"{reverse('document', args=[pk])}?{DONE}")
