"""The proposed wordings of tax categories: what an invoice prints of a rate, in each language.

They are proposals: the forms of the administration show them, and a person may change them. Where
the law prescribes a mention, as for the reverse charge, the text has it to the letter. "Directive"
is 2006/112/EC on VAT, whose articles every member state accepts; UStG are the VAT acts of Germany
and of Austria.
"""

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _

from agent_access.translations import Text
from invoicing.models import TaxCategory

# Texts by language, as rates keep them.
Texts = Mapping[str, str]

# Those of settings.DOCUMENT_LANGUAGES, in the order of the texts in each row.
_LANGUAGES = ("en", "de", "fr", "es")
_Row = tuple[str, str, str, str]


class Wording(NamedTuple):
    """What somebody may choose for a rate: a category, and the reason that is printed with it."""

    category: TaxCategory
    label: Text
    reasons: Texts
    is_small_business: bool = False


def _by_language(row: _Row) -> Texts:
    return dict(zip(_LANGUAGES, row, strict=True))


_EXEMPT: _Row = ("Exempt from VAT", "Umsatzsteuerfrei", "Exonéré de TVA", "Exento de IVA")
_REVERSE_CHARGE: _Row = (
    "Reverse charge",
    "Steuerschuldnerschaft des Leistungsempfängers",
    "Autoliquidation",
    "Inversión del sujeto pasivo",
)
_INTRA_COMMUNITY: _Row = (
    "Exempt intra-Community supply",
    "Steuerfreie innergemeinschaftliche Lieferung",
    "Livraison intracommunautaire exonérée",
    "Entrega intracomunitaria exenta",
)
_EXPORT: _Row = (
    "Export exempt from VAT",
    "Steuerfreie Ausfuhrlieferung",
    "Exportation exonérée de TVA",
    "Exportación exenta de IVA",
)
_SMALL_BUSINESS: _Row = (
    "VAT exemption for small businesses",
    "Steuerbefreiung für Kleinunternehmer",
    "Franchise de TVA des petites entreprises",
    "Exención del IVA para pequeñas empresas",
)

# What stands beside the percentage, in place of the rate's own name.
NAMES: Mapping[str, Texts] = {
    category: _by_language(row)
    for category, row in {
        TaxCategory.STANDARD: ("VAT", "Umsatzsteuer", "TVA", "IVA"),
        TaxCategory.ZERO: ("VAT zero rate", "Nullsteuersatz", "TVA taux zéro", "IVA tipo cero"),
        TaxCategory.EXEMPT: _EXEMPT,
        TaxCategory.REVERSE_CHARGE: _REVERSE_CHARGE,
        TaxCategory.INTRA_COMMUNITY: (
            "Intra-Community supply",
            "Innergemeinschaftliche Lieferung",
            "Livraison intracommunautaire",
            "Entrega intracomunitaria",
        ),
        TaxCategory.EXPORT: ("Export", "Ausfuhrlieferung", "Exportation", "Exportación"),
        TaxCategory.OUTSIDE_SCOPE: (
            "Not subject to VAT",
            "Nicht steuerbar",
            "Hors champ de la TVA",
            "No sujeto a IVA",
        ),
    }.items()
}


def _reason(said: _Row, law: _Row | None = None) -> Texts:
    """Return the reason in each language, with the law that it rests on, if one is named."""
    laws = law or ("", "", "", "")
    rows = zip(_LANGUAGES, said, laws, strict=True)
    return {language: f"{text}, {of}" if of else text for language, text, of in rows}


def _directive(article: str, de: str = "", fr: str = "", es: str = "") -> _Row:
    """Return an article of the directive; only those with paragraphs differ by language."""
    return (
        f"Article {article} of Directive 2006/112/EC",
        f"Artikel {de or article} der Richtlinie 2006/112/EG",
        f"article {fr or article} de la directive 2006/112/CE",
        f"artículo {es or article} de la Directiva 2006/112/CE",
    )


def _german(section: str, abroad: str = "") -> _Row:
    """Return a section of the German UStG, as other languages write it too."""
    numbered = abroad or section.replace("Nr.", "no.")
    return (
        f"{numbered} of the German VAT Act (UStG)",
        f"{section} UStG",
        f"{numbered.replace('no.', 'n°')} de la loi allemande sur la TVA (UStG)",
        f"{numbered.replace('no.', 'n.º')} de la Ley alemana del IVA (UStG)",
    )


_EXEMPTIONS: Mapping[str, tuple[Text, _Row]] = {
    "health": (
        _("Exempt: hospital and medical care, Directive Article 132(1)(b) and (c)"),
        _directive(
            "132(1)(b) and (c)",
            "132 Absatz 1 Buchstaben b und c",
            "132, paragraphe 1, points b) et c),",
            "132, apartado 1, letras b) y c),",
        ),
    ),
    "education": (
        _("Exempt: school, university and vocational education, Directive Article 132(1)(i)"),
        _directive(
            "132(1)(i)",
            "132 Absatz 1 Buchstabe i",
            "132, paragraphe 1, point i),",
            "132, apartado 1, letra i),",
        ),
    ),
    "tuition": (
        _("Exempt: private tuition by teachers, Directive Article 132(1)(j)"),
        _directive(
            "132(1)(j)",
            "132 Absatz 1 Buchstabe j",
            "132, paragraphe 1, point j),",
            "132, apartado 1, letra j),",
        ),
    ),
    "insurance": (
        _("Exempt: insurance, its brokers and agents, Directive Article 135(1)(a)"),
        _directive(
            "135(1)(a)",
            "135 Absatz 1 Buchstabe a",
            "135, paragraphe 1, point a),",
            "135, apartado 1, letra a),",
        ),
    ),
    "finance": (
        _("Exempt: credit, payments, securities and funds, Directive Article 135(1)(b) to (g)"),
        _directive(
            "135(1)(b) to (g)",
            "135 Absatz 1 Buchstaben b bis g",
            "135, paragraphe 1, points b) à g),",
            "135, apartado 1, letras b) a g),",
        ),
    ),
    "letting": (
        _("Exempt: letting of immovable property, Directive Article 135(1)(l)"),
        _directive(
            "135(1)(l)",
            "135 Absatz 1 Buchstabe l",
            "135, paragraphe 1, point l),",
            "135, apartado 1, letra l),",
        ),
    ),
    "german-finance": (
        _("Exempt: credit, payments and securities, § 4 Nr. 8 UStG"),
        _german("§ 4 Nr. 8"),
    ),
    "german-brokers": (
        _("Exempt: insurance brokers and agents, § 4 Nr. 11 UStG"),
        _german("§ 4 Nr. 11"),
    ),
    "german-letting": (
        _("Exempt: letting of immovable property, § 4 Nr. 12 UStG"),
        _german("§ 4 Nr. 12"),
    ),
    "german-health": (_("Exempt: medical treatment, § 4 Nr. 14 UStG"), _german("§ 4 Nr. 14")),
    "german-education": (_("Exempt: education, § 4 Nr. 21 UStG"), _german("§ 4 Nr. 21")),
}

# Spain has no such exemption of its own; a business of another country may have that of the EU.
_SMALL_BUSINESSES: Mapping[str, tuple[Text, Texts]] = {
    "small": (
        _("Small business in the EU, Directive Article 284"),
        _reason(_SMALL_BUSINESS, _directive("284")),
    ),
    "small-german": (
        _("Small business in Germany, § 19 UStG"),
        _reason(_SMALL_BUSINESS, _german("§ 19")),
    ),
    "small-austrian": (
        _("Small business in Austria, § 6 Abs. 1 Z 27 UStG"),
        _reason(
            _SMALL_BUSINESS,
            (
                "§ 6(1) no. 27 of the Austrian VAT Act (UStG 1994)",
                "§ 6 Abs. 1 Z 27 UStG 1994",
                "§ 6, al. 1, n° 27 de la loi autrichienne sur la TVA (UStG 1994)",
                "§ 6, apartado 1, n.º 27 de la Ley austriaca del IVA (UStG 1994)",
            ),
        ),
    ),
    "small-french": (
        _("Small business in France, art. 293 B du CGI"),
        _by_language(
            (
                "VAT not applicable, Article 293 B of the French General Tax Code (CGI)",
                "Keine Umsatzsteuer, Art. 293 B des französischen Steuergesetzbuchs (CGI)",
                "TVA non applicable, art. 293 B du CGI",
                "Sin IVA, artículo 293 B del Código General de Impuestos francés (CGI)",
            )
        ),
    ),
    "small-swiss": (
        _("Small business in Switzerland, Art. 10 MWSTG"),
        _by_language(
            (
                "Not liable for VAT, Art. 10(2)(a) of the Swiss VAT Act",
                "Nicht mehrwertsteuerpflichtig, Art. 10 Abs. 2 Bst. a MWSTG",
                "Non assujetti à la TVA, art. 10, al. 2, let. a LTVA",
                "No sujeto pasivo del IVA, art. 10, apdo. 2, letra a de la Ley suiza del IVA",
            )
        ),
    ),
}

# What may be chosen, by a key. A category's own code stands for it without a law, or with another.
WORDINGS: Mapping[str, Wording] = {
    "S": Wording(TaxCategory.STANDARD, _("Taxed, at the standard or a reduced rate"), {}),
    "Z": Wording(TaxCategory.ZERO, _("Zero rate"), {}),
    **{
        key: Wording(TaxCategory.EXEMPT, label, _reason(_EXEMPT, law))
        for key, (label, law) in _EXEMPTIONS.items()
    },
    "E": Wording(TaxCategory.EXEMPT, _("Exempt for another reason"), _reason(_EXEMPT)),
    **{
        key: Wording(TaxCategory.EXEMPT, label, reasons, is_small_business=True)
        for key, (label, reasons) in _SMALL_BUSINESSES.items()
    },
    "reverse-charge-services": Wording(
        TaxCategory.REVERSE_CHARGE,
        _("Reverse charge: services to a business in another EU country, Directive Article 196"),
        _reason(_REVERSE_CHARGE, _directive("196")),
    ),
    "reverse-charge-german": Wording(
        TaxCategory.REVERSE_CHARGE,
        _("Reverse charge: the customer owes German VAT, § 13b UStG"),
        _reason(_REVERSE_CHARGE, _german("§ 13b")),
    ),
    "AE": Wording(
        TaxCategory.REVERSE_CHARGE,
        _("Reverse charge by another law"),
        _reason(_REVERSE_CHARGE),
    ),
    "intra-community": Wording(
        TaxCategory.INTRA_COMMUNITY,
        _("Intra-community supply of goods, Directive Article 138"),
        _reason(_INTRA_COMMUNITY, _directive("138")),
    ),
    "intra-community-german": Wording(
        TaxCategory.INTRA_COMMUNITY,
        _("Intra-community supply from Germany, § 4 Nr. 1 Buchst. b, § 6a UStG"),
        _reason(
            _INTRA_COMMUNITY, _german("§ 4 Nr. 1 Buchst. b i. V. m. § 6a", "§ 4 no. 1 (b), § 6a")
        ),
    ),
    "K": Wording(
        TaxCategory.INTRA_COMMUNITY,
        _("Intra-community supply by another law"),
        _reason(_INTRA_COMMUNITY),
    ),
    "export": Wording(
        TaxCategory.EXPORT,
        _("Export of goods, Directive Article 146"),
        _reason(_EXPORT, _directive("146")),
    ),
    "export-german": Wording(
        TaxCategory.EXPORT,
        _("Export from Germany, § 4 Nr. 1 Buchst. a, § 6 UStG"),
        _reason(_EXPORT, _german("§ 4 Nr. 1 Buchst. a i. V. m. § 6", "§ 4 no. 1 (a), § 6")),
    ),
    "G": Wording(TaxCategory.EXPORT, _("Export by another law"), _reason(_EXPORT)),
    "service-abroad": Wording(
        TaxCategory.OUTSIDE_SCOPE,
        _("Outside the scope: services to a business outside the EU, Directive Article 44"),
        _reason(
            (
                "Service supplied outside the EU",
                "Leistungsort außerhalb der EU",
                "Prestation localisée hors de l’UE",  # noqa: RUF001 (French writes it so)
                "Servicio prestado fuera de la UE",
            ),
            _directive("44"),
        ),
    ),
    "unregistered": Wording(
        TaxCategory.OUTSIDE_SCOPE,
        _("Outside the scope: the seller is not registered for VAT"),
        _by_language(
            (
                "The supplier is not registered for VAT",
                "Leistender Unternehmer umsatzsteuerlich nicht registriert",
                "Le fournisseur n’est pas immatriculé à la TVA",  # noqa: RUF001 (as above)
                "El proveedor no está registrado a efectos del IVA",
            )
        ),
    ),
    "O": Wording(
        TaxCategory.OUTSIDE_SCOPE,
        _("Outside the scope of VAT for another reason"),
        NAMES[TaxCategory.OUTSIDE_SCOPE],
    ),
}


def find_wording(category: str, reasons: Texts, *, is_small_business: bool = False) -> str:
    """Return the key of the wording with these reasons, or that which has no law of its own."""
    same = (
        key
        for key, wording in WORDINGS.items()
        if (wording.category, wording.reasons) == (category, reasons)
    )
    return next(same, "small" if is_small_business else category)
