"""The words on an invoice, in each language that an invoice can have."""

from collections.abc import Mapping

# Those of settings.DOCUMENT_LANGUAGES, in the order of the words in each row.
LANGUAGES = ("en", "de", "fr", "es")

_WORDS: dict[str, tuple[str, str, str, str]] = {
    "invoice": ("Invoice", "Rechnung", "Facture", "Factura"),
    "credit_note": ("Credit note", "Rechnungskorrektur", "Avoir", "Factura rectificativa"),
    "draft": ("Draft", "Entwurf", "Brouillon", "Borrador"),
    "seller": ("From", "Von", "Émetteur", "Emisor"),
    "buyer": ("To", "An", "Client", "Cliente"),
    "vat_number": ("VAT number", "USt-IdNr.", "N° de TVA", "NIF-IVA"),
    "tax_number": ("Tax number", "Steuernummer", "N° fiscal", "N.º de identificación fiscal"),
    "registration": ("Registration", "Register", "Immatriculation", "Registro"),
    "contact_name": ("Contact", "Kontakt", "Contact", "Contacto"),
    "phone": ("Phone", "Telefon", "Téléphone", "Teléfono"),
    "email": ("E-mail", "E-Mail", "E-mail", "Correo electrónico"),
    "customer_number": ("Customer number", "Kundennummer", "N° client", "N.º de cliente"),
    "buyer_reference": (
        "Buyer reference",
        "Leitweg-ID/Käuferreferenz",
        "Référence de l’acheteur",  # noqa: RUF001 (French writes it so)
        "Referencia del comprador",
    ),
    "issue_date": ("Issue date", "Rechnungsdatum", "Date d’émission", "Fecha de emisión"),  # noqa: RUF001 (French writes it so)
    "supply_date": (
        "Date of supply",
        "Leistungsdatum",
        "Date de livraison ou de prestation",
        "Fecha de la operación",
    ),
    "supply_period": (
        "Period of supply",
        "Leistungszeitraum",
        "Période de livraison ou de prestation",
        "Período de la operación",
    ),
    "as_issue_date": (
        "as issue date",
        "wie Rechnungsdatum",
        "à la date d’émission",  # noqa: RUF001 (French writes it so)
        "la de emisión",
    ),
    "delivery_country": (
        "Country of delivery",
        "Bestimmungsland",
        "Pays de livraison",
        "País de entrega",
    ),
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
    "untaxed_E": ("Exempt from tax", "Steuerfrei", "Exonéré de taxe", "Exento de impuestos"),
    "untaxed_O": ("Outside the scope of tax", "Nicht steuerbar", "Hors champ", "No sujeto"),
    "national_tax": ("VAT in {}", "Umsatzsteuer in {}", "TVA en {}", "IVA en {}"),
    # Of a credit note: the number and date of the invoice, and why it is corrected.
    "corrects": (
        "for invoice {} of {}",
        "zu Rechnung {} vom {}",
        "relatif à la facture {} du {}",
        "de la factura {} del {}",
    ),
    "correction_reason": ("Reason", "Grund", "Motif", "Motivo"),
    "page": ("Page {} of {}", "Seite {} von {}", "Page {} sur {}", "Página {} de {}"),
    "notes": ("Notes", "Hinweise", "Remarques", "Observaciones"),
    "payment": ("Bank details", "Bankverbindung", "Coordonnées bancaires", "Datos bancarios"),
    "payment_code": (
        "Scan to pay with a banking app",
        "Zum Bezahlen mit der Banking-App scannen",
        "À scanner pour payer avec une appli bancaire",
        "Escanee para pagar con la app del banco",
    ),
}


def labels_in(language: str) -> Mapping[str, str]:
    """Return the words in a language, or in English if there are none."""
    index = LANGUAGES.index(language) if language in LANGUAGES else 0
    return {name: words[index] for name, words in _WORDS.items()}


# The headings of a Swiss QR-bill, which has none in Spanish.
_SWISS_WORDS: dict[str, tuple[str, str, str]] = {
    "receipt": ("Receipt", "Empfangsschein", "Récépissé"),
    "payment_part": ("Payment part", "Zahlteil", "Section paiement"),
    "payable_to": ("Account / Payable to", "Konto / Zahlbar an", "Compte / Payable à"),
    "payable_by": ("Payable by", "Zahlbar durch", "Payable par"),
    "payable_by_blank": (
        "Payable by (name/address)",
        "Zahlbar durch (Name/Adresse)",
        "Payable par (nom/adresse)",
    ),
    "message": (
        "Additional information",
        "Zusätzliche Informationen",
        "Informations supplémentaires",
    ),
    "currency": ("Currency", "Währung", "Monnaie"),
    "amount": ("Amount", "Betrag", "Montant"),
    "acceptance_point": ("Acceptance point", "Annahmestelle", "Point de dépôt"),
    "separate": (
        "Separate before paying in",
        "Vor der Einzahlung abzutrennen",
        "A détacher avant le versement",
    ),
}


def swiss_labels_in(language: str) -> Mapping[str, str]:
    """Return the headings of a Swiss QR-bill in a language, or in English if it has none."""
    spoken = LANGUAGES[:3]
    index = spoken.index(language) if language in spoken else 0
    return {name: words[index] for name, words in _SWISS_WORDS.items()}
