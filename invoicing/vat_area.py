"""Which countries are one in the law of VAT."""

# The member states, and Northern Ireland (XI), where the EU's rules on goods hold. Their parts
# where these do not hold, such as the Canary Islands, no country code tells apart.
EU_VAT_AREA = frozenset(
    {
        *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU"),
        *("IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK", "XI"),
    }
)
# Directive 2006/112/EC, Article 7: trade with Monaco is trade with France, and so on.
_TREATED_AS = {"MC": "FR", "IM": "GB"}


def vat_territory(country: str, vat_number: str = "") -> str:
    """Return the territory of a place by its country (ISO 3166), and the VAT number used there.

    Northern Ireland is XI if such a number says so.
    """
    is_northern_irish = country == "GB" and vat_number.upper().startswith("XI")
    return "XI" if is_northern_irish else _TREATED_AS.get(country, country)
