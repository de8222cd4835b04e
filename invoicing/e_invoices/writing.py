"""The e-invoices of a document: what each still needs, and its XML."""

from invoicing.e_invoices.cii import write_cii
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.missing import Missing, find_missing
from invoicing.e_invoices.reading import read_invoice
from invoicing.e_invoices.ubl import write_ubl
from invoicing.errors import InvoicingError
from invoicing.models import Document
from invoicing.services.document_facts import Facts

_WRITERS = {Kind.FACTUR_X: write_cii, Kind.XRECHNUNG: write_cii, Kind.PEPPOL: write_ubl}


class FactsMissingError(InvoicingError):
    """The document lacks facts that this kind of e-invoice needs; `missing` names them."""

    def __init__(self, missing: list[Missing]) -> None:
        super().__init__(" ".join(each.text for each in missing))
        self.missing = missing


def missing_facts(document: Document, facts: Facts, kind: Kind) -> list[Missing]:
    """Return what this kind of e-invoice needs and the document, which has these facts, lacks.

    Of a draft: what it would lack if it were issued now.
    """
    return find_missing(read_invoice(document, facts, kind))


def write_e_invoice(document: Document, facts: Facts, kind: Kind) -> bytes:
    """Return the XML of an issued document, which has these facts: always the same bytes.

    Raises FactsMissingError where it would not be valid.
    """
    invoice = read_invoice(document, facts, kind)
    if missing := find_missing(invoice):
        raise FactsMissingError(missing)
    return _WRITERS[kind](invoice)
