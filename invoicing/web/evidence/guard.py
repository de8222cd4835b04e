"""Who may open the pages of evidence: the owner, who holds the permission, and auditors."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse

from invoicing.access import Permission
from invoicing.rights import may_read_evidence
from invoicing.web.auditors import for_auditors
from invoicing.web.pages import SignedInRequest, page


def evidence_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view: 403 for everybody else, and all that `page` answers."""

    @wraps(view)
    def guarded(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may_read_evidence(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    served = for_auditors(page()(guarded))
    served.permissions = (Permission.AUDIT,)  # type: ignore[attr-defined]  # read by a test that walks the routes
    return served
