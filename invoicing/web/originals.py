"""The files of a document: what its page says of them, and their downloads."""

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, quote_etag
from django.utils.text import get_text_list
from django.utils.translation import gettext

from invoicing.access import Permission
from invoicing.administration.acts import actor_of
from invoicing.administration.downloads import IsAllowed, record_download
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.missing import Missing
from invoicing.e_invoices.writing import FactsMissingError, missing_facts
from invoicing.models import Document, OriginalKind, User
from invoicing.originals.keeping import original_of
from invoicing.originals.names import file_name_of
from invoicing.pdf.making import GlyphsMissingError, PdfError, make_pdf
from invoicing.services.document_facts import Facts
from invoicing.web.mending import flaws_of, group_flaws
from invoicing.web.pages import SignedInRequest, page


def describe_files(user: User, document: Document, facts: Facts) -> dict[str, Any]:
    """Describe the files of a document, which has these facts, and why there are no others."""
    kinds_by_missing: dict[tuple[Missing, ...], list[Kind]] = {}
    for kind in Kind:
        kinds_by_missing.setdefault(tuple(missing_facts(document, facts, kind)), []).append(kind)
    valid = kinds_by_missing.pop((), [])
    return {
        "links": list(_links(document, valid)),
        "has_factur_x": Kind.FACTUR_X in valid,
        "valid": _join(valid, gettext("and")),
        "lacking": [
            (_join(kinds, gettext("or")), list(group_flaws(user, document, flaws_of(missing))))
            for missing, kinds in kinds_by_missing.items()
        ],
    }


def _join(kinds: list[Kind], last_word: str) -> str:
    return get_text_list([kind.label for kind in kinds], last_word)


def _links(document: Document, valid: list[Kind]) -> Iterator[tuple[str, str]]:
    """Yield the names and addresses of the files: of a draft, of its PDF alone."""
    offered = {OriginalKind.PDF.value} | {kind.value for kind in valid if document.is_issued}
    for kind in OriginalKind:
        if kind.value in offered:
            label = kind.label if document.is_issued else gettext("PDF as draft")
            yield label, reverse(f"document-{kind}", args=[document.pk])


def download_of(kind: OriginalKind) -> Callable[..., HttpResponse]:
    """Return the view that sends this file of a document; a draft has no file but its PDF."""

    @page(Permission.VIEW_DOCUMENT)
    def download(request: SignedInRequest, pk: UUID) -> HttpResponse:
        document = Document.objects.visible_to(request.user).find(pk)
        if not document.is_issued and kind != OriginalKind.PDF:
            raise Http404
        try:
            content = _read(document, kind)
        except (FactsMissingError, PdfError) as failure:
            return _explain(request, document, kind, failure)
        return send_file(request, document, kind, content, is_allowed=partial(_may_get, document))

    return download


def _may_get(document: Document, user: User) -> bool:
    seen = Document.objects.visible_to(user).filter(pk=document.pk)
    return user.has_perm(Permission.VIEW_DOCUMENT) and seen.exists()


def _read(document: Document, kind: OriginalKind) -> bytes:
    """Return the kept file of an issued document, or the PDF of a draft, which nobody keeps."""
    if document.is_issued:
        return bytes(original_of(document, kind).content)
    return make_pdf(document)


def send_file(
    request: SignedInRequest,
    document: Document,
    kind: OriginalKind,
    content: bytes,
    *,
    is_allowed: IsAllowed,
) -> HttpResponse:
    """Send the file, and record it, unless the client has it or asks only whether there is one.

    Raises PermissionMissingError if the person may not have it any more when it is recorded.
    """
    digest = hashlib.sha256(content).hexdigest()
    etag = quote_etag(digest)
    answer = HttpResponse(
        content,
        content_type="application/pdf" if kind == OriginalKind.PDF else "application/xml",
        headers={
            "Content-Length": str(len(content)),
            "Content-Disposition": content_disposition_header(
                as_attachment=True, filename=file_name_of(document, kind)
            ),
            "ETag": etag,
        },
    )
    answer = get_conditional_response(request, etag=etag, response=answer) or answer
    if request.method == "GET" and answer.status_code == HTTPStatus.OK:
        record_download(actor_of(request), document, kind, digest=digest, is_allowed=is_allowed)
    return answer


def _explain(
    request: SignedInRequest,
    document: Document,
    kind: OriginalKind,
    failure: FactsMissingError | PdfError,
) -> HttpResponse:
    """Show why there is no file: now, or until somebody changes something."""
    missing = failure.missing if isinstance(failure, FactsMissingError) else []
    may_retry = not isinstance(failure, FactsMissingError | GlyphsMissingError)
    context = {
        "document": document,
        "kind": kind.label,
        "reason": failure.told() if isinstance(failure, PdfError) else "",
        "missing": list(group_flaws(request.user, document, flaws_of(missing))),
        "may_retry": may_retry,
    }
    status = HTTPStatus.SERVICE_UNAVAILABLE if may_retry else HTTPStatus.CONFLICT
    return render(request, "invoicing/no_file.html", context, status=status)
