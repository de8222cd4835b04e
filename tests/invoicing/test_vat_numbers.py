import re

import pytest

from invoicing.vat_numbers import country_of_vat_number, is_vat_number_valid

# Of authorities and of companies that publish theirs, and the examples of the countries' own rules.
VALID = {
    "AT": "ATU13585627",
    "BE": "BE 0403.019.261",
    "BG": "BG 175 074 752",
    "CH": "CHE-107.787.577 MWST",
    "CY": "CY10259033P",
    "CZ": "CZ25123891",
    "DE": "DE 136 695 976",
    "DK": "DK13585628",
    "EE": "EE100931558",
    "ES": "ES B58378431",
    "FI": "FI20774740",
    "FR": "FR 40 303 265 045",
    "GB": "GB 980 7806 84",
    "GR": "EL094259216",
    "HR": "HR33392005961",
    "HU": "HU12892312",
    "IE": "IE6433435F",
    "IT": "IT00743110157",
    "LT": "LT119511515",
    "LU": "LU15027442",
    "LV": "LV40003521600",
    "MT": "MT11679112",
    "NL": "NL004495445B01",
    "PL": "PL8567346215",
    "PT": "PT501964843",
    "RO": "RO18547290",
    "SE": "SE123456789701",
    "SI": "SI50223054",
    "SK": "SK2022749619",
    "XI": "XI 980 7806 84",
}


def with_another_digit(number):
    fifth = [position for position, each in enumerate(number) if each.isdigit()][4]
    return f"{number[:fifth]}{(int(number[fifth]) + 1) % 10}{number[fifth + 1 :]}"


@pytest.mark.parametrize("country", VALID)
def test_a_number_is_known_by_its_check_digits(country):
    number = VALID[country]
    assert is_vat_number_valid(country, number)
    assert is_vat_number_valid(country, number.lower())
    assert is_vat_number_valid("", number)
    assert is_vat_number_valid(country, re.sub("^(CHE-|[A-Z]{2})", "", number))
    assert not is_vat_number_valid(country, with_another_digit(number))


@pytest.mark.parametrize(
    ("country", "number"),
    [("CH", "CHE-107.787.577 TVA"), ("CH", "CHE107787577IVA"), ("GR", "GR094259216")],
)
def test_a_number_has_several_spellings(country, number):
    assert is_vat_number_valid(country, number)


@pytest.mark.parametrize(
    ("country", "number"),
    [
        ("DE", "DE"),
        ("DE", "D"),
        ("DE", "DE13669597"),
        ("DE", "DE\u0661\u0663\u0666\u0666\u0669\u0665\u0669\u0667\u0666"),
        ("DE", "US136695976"),
        ("CH", "CHE-107.787.577"),
        ("CH", "CHE-107.787.577 VAT"),
        ("NL", "DE136695977"),
    ],
)
def test_another_form_is_wrong(country, number):
    assert not is_vat_number_valid(country, number)


@pytest.mark.parametrize(("country", "number"), [("US", "12-3456789"), ("", "123"), ("NO", "?")])
def test_nothing_is_wrong_where_the_form_is_not_known(country, number):
    assert is_vat_number_valid(country, number)


@pytest.mark.parametrize(
    ("number", "country", "found"),
    [
        ("EL094259216", "DE", "GR"),
        ("el 094259216", "", "GR"),
        ("GR094259216", "", "GR"),
        ("XI980780684", "GB", "XI"),
        ("CHE-107.787.577 MWST", "LI", "CH"),
        ("136695976", "DE", "DE"),
        ("", "NL", "NL"),
    ],
)
def test_a_number_names_its_country_else_that_of_its_party_counts(number, country, found):
    assert country_of_vat_number(number, country) == found
