"""Requires a signed-in person for every page, unless it is marked login_not_required.

Of these people, auditors get no further than evidence.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from typing_extensions import override

from invoicing.paper.formats import time_zone_of
from invoicing.visits import note_visitor
from invoicing.web.accounts.sign_in import LATE, ask_to_sign_in_again
from invoicing.web.auditors import keep_to_evidence
from invoicing.web.late_forms import keeps_typed


class SignedInMiddleware(LoginRequiredMiddleware):
    """Django's own, but it loads no session where nobody needs to sign in, and logs the visitor.

    Until the answer is ready, the visitor's time zone is the current one.
    """

    @override
    def __call__(self, request: HttpRequest) -> Any:
        with timezone.override(None):  # which ends what process_view() activates
            return super().__call__(request)

    @override
    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., Any],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        if not getattr(view_func, "login_required", True):
            return None
        if request.user.is_authenticated:
            note_visitor(request.user.pk)
            timezone.activate(time_zone_of(request.user))
            if request.user.is_auditor:
                over = keep_to_evidence(request, request.user, view_func)
                if over is not None:
                    return over
        return super().process_view(request, view_func, view_args, view_kwargs)

    @override
    def handle_no_permission(  # type: ignore[override]  # Django's own always answers with a redirect
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponseBase:
        """Ask to sign in, then lead to the page; after a form, to its page, with what was typed.

        The sign-in page says that the form did nothing.
        """
        if request.method != "POST":
            return super().handle_no_permission(request, view_func)
        if keeps_typed(view_func):
            return ask_to_sign_in_again(request)
        return redirect(f"{redirect_to_login(_page_of_form(request)).url}&{LATE}")


def _page_of_form(request: HttpRequest) -> str:
    """Return the path of the page that held the form: the form's own address may answer no GET.

    Browsers send it as Referer within the site (Referrer-Policy); without one it is the address
    of the request itself.
    """
    origin = f"{request.scheme}://{request.get_host()}"
    sender = request.headers.get("Referer", "")
    return (
        sender.removeprefix(origin) if sender.startswith(f"{origin}/") else request.get_full_path()
    )
