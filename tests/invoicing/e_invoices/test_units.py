import pytest

from invoicing.e_invoices.units import unit_code

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize(
    ("code", "units"),
    [
        ("HUR", ["h", "Std.", "hours", "Stunde", "HEURES", "horas"]),
        ("H87", ["pcs", "Stk.", "Stück", "pièce", "Uds."]),
        ("DAY", ["day", "Tage", "jours", "días"]),
        ("E49", ["working day", "working  days", "Personentage"]),
        ("MON", ["month", "Monate", "mois", "mes"]),
        ("MTK", ["m²", "m2", "qm"]),
        ("MTQ", ["m³"]),
        ("KGM", ["kg", "ＫＧ"]),  # noqa: RUF001  full width
        ("P1", ["%"]),
        ("C62", ["", ".", "Zaubertrank", "hour of glory"]),
    ],
)
def test_a_unit_is_known_by_the_words_of_four_languages(code, units):
    assert [unit_code(unit) for unit in units] == [code] * len(units)
