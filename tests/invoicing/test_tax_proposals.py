"""The proposed tax rates: by country, each lawful as a record of its own."""

import pytest

from invoicing.fixed_point import format_fixed_point
from invoicing.models import TaxCategory
from invoicing.tax_proposals import PERCENTAGES, propose_rates, propose_small_business
from invoicing.tax_wordings import WORDINGS

# What is proposed asks no database.
pytestmark = pytest.mark.sqlite

COUNTRIES = ("DE", "AT", "CH", "FR", "ES", "IT", "NL", "BE", "LU", "PL", "IE", "GB")


def described(country: str) -> list[tuple[str, str]]:
    rates = propose_rates(country)
    return [(each.category.value, format_fixed_point(each.percentage)) for each in rates]


def test_germany_has_its_two_rates_and_all_that_is_free_of_tax():
    assert described("DE") == [
        *[("S", "19"), ("S", "7")],
        *[("AE", "0"), ("AE", "0"), ("K", "0"), ("G", "0"), ("E", "0"), ("O", "0")],
    ]


def test_switzerland_is_outside_of_the_eu_and_has_rates_with_decimals():
    assert described("CH") == [
        *[("S", "8.1"), ("S", "3.8"), ("S", "2.6"), ("G", "0"), ("E", "0"), ("O", "0")]
    ]


def test_a_country_that_is_not_known_gets_no_percentage():
    assert described("BR") == described("") == [("G", "0"), ("E", "0"), ("O", "0")]


@pytest.mark.parametrize("country", COUNTRIES)
def test_a_known_country_has_its_standard_rate_first_and_reduced_ones_below(country):
    taxed = [each for each in propose_rates(country) if each.category == TaxCategory.STANDARD]
    percentages = [each.percentage for each in taxed]
    assert percentages == sorted(percentages, reverse=True)
    assert len(percentages) == len(set(percentages)) >= 2


@pytest.mark.parametrize("country", [*PERCENTAGES, "BR"])
def test_each_proposal_has_a_name_of_its_own_and_a_reason_unless_it_is_taxed(country):
    rates = propose_rates(country)
    assert len({each.key for each in rates}) == len(rates)
    for each in rates:
        needs_reason = each.category not in {TaxCategory.STANDARD, TaxCategory.ZERO}
        assert set(each.reasons) == ({"en", "de", "fr", "es"} if needs_reason else set())
        assert set(each.names) == {"en", "de", "fr", "es"}
        assert (each.percentage == 0) == (each.category != TaxCategory.STANDARD)


def test_a_small_business_has_the_wording_of_its_country_and_spain_has_none():
    found = [propose_small_business(country) for country in ("DE", "NL", "ES", "GB", "BR")]
    assert found == ["small-german", "small", "", "", ""]
    assert all(WORDINGS[key].is_small_business for key in found if key)
