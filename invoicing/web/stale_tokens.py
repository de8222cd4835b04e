"""Forms with a wrong CSRF token: from another site, or from a page that is outdated."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.csrf import csrf_failure

from invoicing.web.accounts.sign_in import ask_to_sign_in_again, continue_after_sign_in, sign_in
from invoicing.web.late_forms import keeps_typed, read_late_form, show_late_form


def answer_token(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form with a wrong token, which changed nothing: the `CSRF_FAILURE_VIEW`.

    Signing in rotates the token, so every page that was open before has a wrong one.
    """
    view = request.resolver_match.func if request.resolver_match else None
    if request.headers.get("Origin") != f"{request.scheme}://{request.get_host()}":
        return csrf_failure(request, reason)
    if view is sign_in and request.user.is_authenticated:
        return continue_after_sign_in(request)
    if not keeps_typed(view):
        return csrf_failure(request, reason)
    if not request.user.is_authenticated:
        return ask_to_sign_in_again(request)
    return show_late_form(
        request, request.path, read_late_form(request), status=HTTPStatus.FORBIDDEN
    )
