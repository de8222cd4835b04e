"""Forms that came too late: the session had ended, or their person signed in anew elsewhere.

What was typed for long is not lost: the sign-in page takes it along, and the browser, not this
application, keeps it until its form is shown again.
"""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve

# The button with which a form asks to be shown again as it was typed.
RESUME = "resume"
TOKEN = "csrfmiddlewaretoken"  # noqa: S105  a field's name


def keeps_typed(view: object) -> bool:
    """Tell whether a view is a page whose form is long to type."""
    return getattr(view, "keeps_typed", False)


def keeps_typed_at(path: str) -> bool:
    """Tell whether the path is that of such a page: no other form is filled in for anybody."""
    try:
        return keeps_typed(resolve(path).func)
    except Resolver404:
        return False


def read_late_form(request: HttpRequest) -> QueryDict:
    """Return what was typed, without the token."""
    typed = request.POST.copy()
    typed.pop(TOKEN, None)
    return typed


def show_late_form(
    request: HttpRequest, path: str, typed: QueryDict, *, status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    """Show a button that leads back into the form, as it was typed; it saves nothing."""
    fields = [(name, text) for name, texts in typed.lists() for text in texts]
    context = {"path": path, "fields": fields, "resume": RESUME}
    return render(request, "invoicing/late_form.html", context, status=status)
