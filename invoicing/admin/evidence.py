"""The page on which the owner, and nobody else, takes a package of evidence out."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from invoicing.admin.confirming import NotConfirmedError, ask, confirm
from invoicing.administration.acts import actor_of
from invoicing.administration.evidence import VERIFIER, begin_evidence
from invoicing.administration.exports import TooManyExportsError
from invoicing.errors import PermissionMissingError
from invoicing.rights import is_owner

BUSY = _("Too many exports are being downloaded right now. Try again in a few minutes.")


def export_evidence(request: HttpRequest, context: dict[str, Any]) -> HttpResponseBase:
    """Ask to confirm it, then answer with the package; 404 for everybody but the owner.

    A package holds all that was ever approved.
    """
    _require_owner(request)

    def show(**more: Any) -> HttpResponse:
        values = {**context, "title": gettext("Evidence"), "confirmation": ask(request), **more}
        return render(request, "admin/invoices/evidence.html", values)

    if request.method != "POST":
        return show()
    try:
        confirm(request)
        return _download(request)
    except NotConfirmedError as refusal:
        return refusal.mark(show())
    except TooManyExportsError:
        page = show(problem=BUSY)
        page.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return page
    except PermissionMissingError:
        raise PermissionDenied from None


def download_verifier(request: HttpRequest) -> HttpResponse:
    """Answer with the program that verifies a package; 404 for everybody but the owner."""
    _require_owner(request)
    return HttpResponse(
        VERIFIER.read_bytes(),
        content_type="text/x-python",
        headers={"Content-Disposition": f'attachment; filename="{VERIFIER.name}"'},
    )


def _require_owner(request: HttpRequest) -> None:
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404


def _download(request: HttpRequest) -> StreamingHttpResponse:
    """Return the package; raises TooManyExportsError and PermissionMissingError."""
    name = f"evidence_{timezone.now():%Y-%m-%d_%H%M}.zip"
    return StreamingHttpResponse(
        begin_evidence(actor=actor_of(request)),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
