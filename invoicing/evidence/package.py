"""What a package of evidence tells of issued documents."""

from collections.abc import Iterator, Mapping
from typing import Any

from agent_access.evidence.parts import Part
from agent_access.facts import canonical_json, fingerprint_of
from invoicing.decisions import ISSUED_BY_HAND
from invoicing.models import Document, DocumentStatus, Original
from invoicing.services.document_facts import read_parts
from invoicing.services.issued_content import UNFROZEN, read_content
from invoicing.services.search_words import batches_by_id

BATCH_SIZE = 100


def read_documents() -> Iterator[Mapping[str, Any]]:
    """Yield every issued document as it was frozen, with the digests of the files made of it."""
    issued = Document.objects.filter(status=DocumentStatus.ISSUED)
    for batch in batches_by_id(issued, BATCH_SIZE):
        read_parts(batch)
        originals = _read_originals(batch)
        for document in batch:
            content = canonical_json(read_content(document))
            yield {
                "id": document.pk,
                "content": content,
                "digest": fingerprint_of(content),
                "connection_name": document.connection_name,
                "originals": originals.get(document.pk, []),
            }


def _read_originals(documents: list[Document]) -> dict[Any, list[Mapping[str, Any]]]:
    """Return kind and digest of each file that is kept of these, by document."""
    kept = Original.objects.filter(document__in=documents).order_by("pk")
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for pk, kind, digest in kept.values_list("document_id", "kind", "digest"):
        found.setdefault(pk, []).append({"kind": kind, "digest": digest})
    return found


DOCUMENTS = Part(
    name="documents",
    rows=read_documents,
    is_numbered=True,
    unfrozen=UNFROZEN,
    acts=(ISSUED_BY_HAND,),
)
