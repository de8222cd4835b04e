"""The e-invoices that can be had."""

from django.db.models import TextChoices

# The business process (BT-23) of XRechnung and Peppol: an invoice of its own.
BILLING_PROCESS = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
EN_16931 = "urn:cen.eu:en16931:2017"


class Kind(TextChoices):
    """Factur-X (in Germany ZUGFeRD) is CII inside a PDF, XRechnung CII alone, Peppol UBL alone."""

    FACTUR_X = "factur-x", "Factur-X (ZUGFeRD)"
    XRECHNUNG = "xrechnung", "XRechnung"
    PEPPOL = "peppol", "Peppol BIS Billing"

    @property
    def specification(self) -> str:
        """The specification identifier (BT-24)."""
        return _SPECIFICATIONS[self]

    @property
    def process(self) -> str:
        """The business process (BT-23), where the kind wants one."""
        return "" if self is Kind.FACTUR_X else BILLING_PROCESS


_SPECIFICATIONS = {
    Kind.FACTUR_X: EN_16931,
    Kind.XRECHNUNG: f"{EN_16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
    Kind.PEPPOL: f"{EN_16931}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0",
}
