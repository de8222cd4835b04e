from itertools import combinations
from typing import Any

import pytest
from django.db.models import Model

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import Connection, Receipt
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
from invoicing.number_formats import NumberStyle, can_write_the_same
from invoicing.services.numbering import DEFAULT_PREFIXES

Column = tuple[type[Model], str]

# What an installation writes once more, as it was at that moment: from where, and to where.
COPIES: list[tuple[Column, Column]] = [
    ((Company, "name"), (Document, "seller_name")),
    ((Company, "vat_number"), (Document, "seller_vat_number")),
    ((Company, "iban"), (Document, "seller_iban")),
    ((Company, "bic"), (Document, "seller_bic")),
    ((Customer, "name"), (Document, "buyer_name")),
    ((Customer, "vat_number"), (Document, "buyer_vat_number")),
    ((TaxRate, "name"), (TaxRow, "name")),
    ((Connection, "name"), (Document, "connection_name")),
    ((Connection, "name"), (ApprovalRequest, "connection_name")),
    ((Receipt, "key"), (ApprovalRequest, "execute_key")),
]


def test_a_percentage_and_a_quantity_read_as_people_write_them() -> None:
    assert TaxRate(percentage_ten_thousandths=190_000).percentage == "19"
    assert Line(quantity_ten_thousandths=15_000).quantity == "1.5"


def test_a_record_is_called_by_its_name() -> None:
    for model in (Company, Customer, Skill, Team, User):
        assert str(model(name="Halden")) == "Halden"
    assert str(TaxRate(name="Reduced", percentage_ten_thousandths=70_000)) == "Reduced (7 %)"


def test_every_type_of_document_has_numbers_of_its_own() -> None:
    assert set(DEFAULT_PREFIXES) == set(DocumentType)
    styles = [NumberStyle(each, has_year=True, digits=4) for each in DEFAULT_PREFIXES.values()]
    assert not any(can_write_the_same(*pair) for pair in combinations(styles, 2))


def test_agents_write_invoices_and_no_other_type_that_there_may_be() -> None:
    written = [kind for kind in (*DocumentType, "proforma") if Document(type=kind).is_draft_invoice]
    assert written == [DocumentType.INVOICE]


@pytest.mark.parametrize(("source", "copy"), COPIES)
def test_a_copy_has_room_for_whatever_its_source_may_hold(source: Column, copy: Column) -> None:
    # PostgreSQL alone would refuse a longer text, and with it the call that makes the copy.
    assert _length_of(*copy) >= _length_of(*source)


def _length_of(model: type[Model], name: str) -> int:
    field: Any = model._meta.get_field(name)
    length: int = field.max_length
    return length
