"""The words on an invoice, in each language that an invoice can have."""

from collections.abc import Mapping

# Those of settings.LANGUAGES, in the order of the words in each row.
LANGUAGES = ("en", "de", "fr", "es")

_WORDS: dict[str, tuple[str, str, str, str]] = {
    "invoice": ("Invoice", "Rechnung", "Facture", "Factura"),
    "credit_note": ("Credit note", "Rechnungskorrektur", "Avoir", "Factura rectificativa"),
    "draft": ("Draft", "Entwurf", "Brouillon", "Borrador"),
    "seller": ("From", "Von", "Émetteur", "Emisor"),
    "buyer": ("To", "An", "Client", "Cliente"),
    "vat_number": ("VAT number", "USt-IdNr.", "N° de TVA", "NIF-IVA"),
    "issue_date": ("Issue date", "Rechnungsdatum", "Date d’émission", "Fecha de emisión"),  # noqa: RUF001 (French writes it so)
    "due_date": ("Due date", "Fällig am", "Échéance", "Vencimiento"),
    "reference": ("Reference", "Referenz", "Référence", "Referencia"),
    "currency": ("Currency", "Währung", "Devise", "Moneda"),
    "lines": ("Lines", "Positionen", "Lignes", "Líneas"),
    "description": ("Description", "Beschreibung", "Description", "Descripción"),
    "quantity": ("Quantity", "Menge", "Quantité", "Cantidad"),
    "unit_price": ("Unit price", "Einzelpreis", "Prix unitaire", "Precio unitario"),
    "discount": ("Discount", "Rabatt", "Remise", "Descuento"),
    "tax": ("Tax", "Steuer", "Taxe", "Impuesto"),
    "amount": ("Amount", "Betrag", "Montant", "Importe"),
    "discount_total": (
        "Discounts, already deducted",
        "Rabatte, bereits abgezogen",
        "Remises déjà déduites",
        "Descuentos ya aplicados",
    ),
    "net_total": ("Net total", "Nettobetrag", "Total hors taxes", "Total neto"),
    "on": ("on", "auf", "sur", "sobre"),
    "tax_total": ("Tax total", "Steuer gesamt", "Total des taxes", "Total de impuestos"),
    "grand_total": ("Total", "Gesamtbetrag", "Total TTC", "Total"),
    "notes": ("Notes", "Hinweise", "Remarques", "Observaciones"),
    "payment": ("Bank details", "Bankverbindung", "Coordonnées bancaires", "Datos bancarios"),
}


def labels_in(language: str) -> Mapping[str, str]:
    """Return the words in a language, or in English if there are none."""
    index = LANGUAGES.index(language) if language in LANGUAGES else 0
    return {name: words[index] for name, words in _WORDS.items()}
