from invoicing.models import (
    Company,
    Customer,
    Document,
    DocumentType,
    Line,
    Skill,
    TaxRate,
    TaxRow,
    Team,
    User,
)
from invoicing.services.numbering import PREFIXES


def test_a_percentage_and_a_quantity_read_as_people_write_them() -> None:
    assert TaxRate(percentage_ten_thousandths=190_000).percentage == "19"
    assert TaxRow(percentage_ten_thousandths=88_750).percentage == "8.875"
    assert Line(quantity_ten_thousandths=15_000).quantity == "1.5"


def test_a_record_is_called_by_its_name() -> None:
    for model in (Company, Customer, Skill, Team, User):
        assert str(model(name="Halden")) == "Halden"
    assert str(TaxRate(name="Reduced", percentage_ten_thousandths=70_000)) == "Reduced (7 %)"


def test_every_type_of_document_has_a_series_that_its_numbers_tell() -> None:
    assert set(PREFIXES) == set(DocumentType)
    assert len(set(PREFIXES.values())) == len(DocumentType)


def test_agents_write_invoices_and_no_other_type_that_there_may_be() -> None:
    written = [kind for kind in (*DocumentType, "proforma") if Document(type=kind).is_draft_invoice]
    assert written == [DocumentType.INVOICE]
