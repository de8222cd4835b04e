"""Downloads of the kept files of an issued document, as its evidence."""

from collections.abc import Callable
from uuid import UUID

from django.http import Http404, HttpResponse

from invoicing.models import Original, OriginalKind
from invoicing.rights import may_read_evidence
from invoicing.web.evidence.document import issued_documents
from invoicing.web.evidence.guard import evidence_page
from invoicing.web.originals import send_file
from invoicing.web.pages import SignedInRequest


def download_of(kind: OriginalKind) -> Callable[..., HttpResponse]:
    """Return the view that sends this file if it was kept before: nobody who audits makes one."""

    @evidence_page
    def download(request: SignedInRequest, pk: UUID) -> HttpResponse:
        document = issued_documents().find(pk)
        kept = Original.objects.filter(document=document, kind=kind).first()
        if kept is None:
            raise Http404
        return send_file(request, document, kind, bytes(kept.content), is_allowed=may_read_evidence)

    return download
