"""Forms sent too late: after the session had ended, or after another sign-in in the same browser.

What was typed is not lost: the sign-in page carries it in a hidden field, so that the browser, not
this application, keeps it until its form is shown again.
"""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve

# The name of the button that asks for a form with the texts that were typed.
RESUME = "resume"
TOKEN = "csrfmiddlewaretoken"  # noqa: S105  a field's name


def keeps_typed(view: object) -> bool:
    """Return whether a view is a page with `keeps_typed`, whose form takes long to fill in."""
    return getattr(view, "keeps_typed", False)


def keeps_typed_at(path: str) -> bool:
    """Return whether the path leads to such a page; no other form is filled in from a request."""
    try:
        return keeps_typed(resolve(path).func)
    except Resolver404:
        return False


def read_late_form(request: HttpRequest) -> QueryDict:
    """Return what was typed, without the CSRF token."""
    typed = request.POST.copy()
    typed.pop(TOKEN, None)
    return typed


def show_late_form(
    request: HttpRequest, path: str, typed: QueryDict, *, status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    """Show a button that leads back to the form, filled in as typed; it saves nothing."""
    fields = [(name, text) for name, texts in typed.lists() for text in texts]
    context = {"path": path, "fields": fields, "resume": RESUME}
    return render(request, "invoicing/late_form.html", context, status=status)
