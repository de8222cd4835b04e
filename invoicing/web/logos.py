"""The logo as pages show it."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from invoicing.models import Logo
from invoicing.web.auditors import for_auditors
from invoicing.web.pages import SignedInRequest, page

# Its address is its digest, so that a browser may keep it for a year; nothing on the way may.
KEPT = "private, max-age=31536000, immutable"


@for_auditors
@page()
def show_logo(request: SignedInRequest, digest: str) -> HttpResponse:
    logo = get_object_or_404(Logo, pk=digest)
    headers = {"Cache-Control": KEPT, "ETag": quote_etag(digest)}
    answer = HttpResponse(bytes(logo.png), content_type="image/png", headers=headers)
    return get_conditional_response(request, etag=headers["ETag"], response=answer) or answer
