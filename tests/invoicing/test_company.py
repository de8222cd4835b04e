import pytest

from invoicing.errors import ConflictError, OwnerUnfitError
from invoicing.models import Company
from invoicing.services.company import current_company, transfer_ownership
from tests.factories import CompanyFactory, CustomerFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_ownership_passes_to_an_active_person() -> None:
    company, successor = CompanyFactory.create(), UserFactory.create()
    transfer_ownership(company, to=successor)
    assert company.owner == current_company().owner == successor


@pytest.mark.parametrize("flags", [{"is_active": False}, {"is_guest": True}], ids=str)
def test_guests_and_inactive_people_never_own_the_company(flags) -> None:
    company = CompanyFactory.create()
    owner = company.owner
    with pytest.raises(OwnerUnfitError):
        transfer_ownership(company, to=UserFactory.create(**flags))
    assert Company.objects.get().owner == company.owner == owner


def test_an_ownership_that_moved_meanwhile_is_not_moved_again() -> None:
    company, successor, late = CompanyFactory.create(), UserFactory.create(), UserFactory.create()
    transfer_ownership(current_company(), to=successor)
    with pytest.raises(ConflictError):
        transfer_ownership(company, to=late)
    assert Company.objects.get().owner == successor


def test_an_address_has_no_empty_lines() -> None:
    customer = CustomerFactory.create(street="", postcode="", city="Oslo", country="")
    assert customer.format_address("en") == "Oslo"


@pytest.mark.parametrize(
    ("language", "country"), [("en", "Netherlands"), ("de", "Niederlande"), ("fr", "Pays-Bas")]
)
def test_an_address_names_its_country_in_the_language_of_the_document(language, country) -> None:
    address = CustomerFactory.build().format_address(language)
    assert address == f"Mill Lane 7\n1011 AB Amsterdam\n{country}"
