"""What issuing has made of a document: its number with its frozen facts, which evidence shows.

It is kept nowhere as such: it follows from the document's columns, and its digest is in the audit
event of the act that issued it. So whoever changes a column later is found.
"""

from datetime import UTC

from agent_access.facts import Facts, canonical_json, fingerprint_of
from invoicing.models import Document
from invoicing.services.document_facts import frozen_facts

# Facts of a draft that say nothing of an issued document.
OF_DRAFTS = ("status", "lock_version")
# Those that a person approves and an issued document does not have; * stands for each of a list.
UNFROZEN = (
    *OF_DRAFTS,
    *("seller.id", "customer.id", "customer.is_active", "tax_breakdown.*.is_active"),
)


def read_content(document: Document) -> Facts:
    """Return what an issued document says, as JSON values; its parts have been read.

    What issuing gave it stands beside the `facts`, by the names that evidence has for any record
    with a number. The facts are those that were approved, less what is `UNFROZEN`.
    """
    facts = frozen_facts(document)
    for name in OF_DRAFTS:
        del facts[name]
    issued_at, issued_by_id = document.issued_at, document.issued_by_id
    return {
        "id": str(document.pk),
        "type": document.type,
        "number": document.number,
        "series": str(document.series_id),
        "value": document.series_value,
        "made_at": issued_at.astimezone(UTC).isoformat() if issued_at else None,
        "made_by": str(issued_by_id) if issued_by_id else None,
        "connection_id": str(document.connection_id) if document.connection_id else None,
        "facts": facts,
        # E-invoices are made of these, whose addresses the facts have as one text each.
        "seller_parts": document.seller_parts,
        "buyer_parts": document.buyer_parts,
    }


def digest_content(document: Document) -> str:
    """Return the SHA-256 of that, as canonical JSON, in hexadecimal."""
    return fingerprint_of(canonical_json(read_content(document)))
