"""Where an auditor gets to: the pages of evidence and their own account, until their time is over.

Whatever else they may be permitted, each page that needs a sign-in is closed to them unless it is
marked here: those of other apps, and of the administration, as well.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from invoicing.models import User
from invoicing.paper.formats import format_day
from invoicing.rights import may_read_evidence

View = TypeVar("View", bound=Callable[..., Any])


def for_auditors(view: View) -> View:
    """Mark a view that auditors may use as long as they audit."""
    view.is_for_auditors = True  # type: ignore[attr-defined]  # read below
    return view


def always_for_auditors(view: View) -> View:
    """Mark a view that auditors may use even when their time is over."""
    view.is_always_for_auditors = True  # type: ignore[attr-defined]  # read below
    return view


def keep_to_evidence(
    request: HttpRequest, auditor: User, view: Callable[..., Any]
) -> HttpResponse | None:
    """Return None where the auditor may go on, or the page that says that their time is over.

    Raises PermissionDenied for a page that is not theirs.
    """
    if getattr(view, "is_always_for_auditors", False):
        return None
    if not may_read_evidence(auditor):
        return _show_over(request, auditor)
    if not getattr(view, "is_for_auditors", False):
        raise PermissionDenied
    return None


def _show_over(request: HttpRequest, auditor: User) -> HttpResponse:
    context = {"last_day": format_day(auditor.audits_until) if auditor.audits_until else ""}
    return render(request, "invoicing/audit_over.html", context, status=HTTPStatus.FORBIDDEN)
