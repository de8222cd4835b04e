import pytest

from tests.factories import CustomerFactory

pytestmark = pytest.mark.django_db


def test_an_address_has_no_empty_lines() -> None:
    customer = CustomerFactory.create(street="", postcode="", city="Oslo", country="")
    assert customer.format_address("en") == "Oslo"


@pytest.mark.parametrize(
    ("language", "country"), [("en", "Netherlands"), ("de", "Niederlande"), ("fr", "Pays-Bas")]
)
def test_an_address_names_its_country_in_the_language_of_the_document(language, country) -> None:
    address = CustomerFactory.build().format_address(language)
    assert address == f"Mill Lane 7\n1011 AB Amsterdam\n{country}"
