"""The page on which somebody with a one-time code chooses a password."""

from functools import partial
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from invoicing.administration.acts import actor_of
from invoicing.administration.sign_ins import use_code
from invoicing.errors import CodeInvalidError
from invoicing.models import User
from invoicing.web.accounts.devices import remember_device
from invoicing.web.accounts.limits import AttemptRefusedError, answer_refused, count_code
from invoicing.web.accounts.password_forms import CodeForm

# One sentence for every reason, so that nobody learns whose code it was, or whether it was one.
NO_CODE = _("This code is not valid. Codes work once and for a short time: ask for another one.")


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def set_password(request: HttpRequest) -> HttpResponse:
    """Show the form; only POST checks the code and uses it."""
    if request.method != "POST":
        return _show(request, CodeForm())
    form = CodeForm(request.POST)
    try:
        count_code()
    except AttemptRefusedError as refusal:
        return answer_refused(refusal, partial(_show, request, form))
    person = _use(request, form) if form.is_valid() else None
    if person is None:
        return _show(request, form, status=422)
    response = render(request, "invoicing/password_set.html")
    # So that somebody whose password is being guessed can sign in by a code at least.
    remember_device(response, person)
    return response


def _use(request: HttpRequest, form: CodeForm) -> User | None:
    try:
        return use_code(
            form.cleaned_data["code"].strip(),
            form.cleaned_data["password"],
            actor=actor_of(request),
        )
    except CodeInvalidError:
        form.add_error("code", NO_CODE)
    except ValidationError as problem:
        form.add_error("password", problem)
    return None


def _show(
    request: HttpRequest, form: CodeForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    values = {"form": form, **context}
    return render(request, "invoicing/set_password.html", values, status=status)
