"""Documents that are read by a statement of their own are those that the ORM reads."""

import pytest

from invoicing.access import Permission, customer_condition, documents_visible_to
from invoicing.agent_tools.reading import read_document, read_page
from invoicing.errors import RecordNotFoundError
from invoicing.models import Document
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    line_input,
    make_draft,
    make_issued,
    make_staff,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    """A person who sees the customers that they are account manager of."""
    return UserFactory.create(permissions=[Permission.VIEW_DOCUMENT])


@pytest.fixture
def documents(manager):
    """Three documents of their customer, and between them two of another."""
    staff = make_staff()
    own, other = CustomerFactory.create(account_managers=[manager]), CustomerFactory.create()
    return [make_draft(user=staff, customer=customer) for customer in (own, other, own, other, own)]


def test_the_condition_is_the_scope(manager, documents):
    for user in (manager, make_staff()):
        condition, values = customer_condition(user, "customer_id")
        found = Document.objects.extra(where=[condition], params=values)  # noqa: S610  our own condition
        assert set(found) == set(documents_visible_to(user))


def test_pages_walk_all_documents_by_id(documents):
    first, after = read_page(after=None, limit=3)
    assert [row["id"] for row in first] == [each.id for each in documents[:3]]
    assert after == documents[2].id
    last, end = read_page(after=after, limit=3)
    assert ([row["id"] for row in last], end) == ([each.id for each in documents[3:]], None)


def test_a_full_last_page_leads_nowhere(documents):
    rows, after = read_page(after=None, limit=5)
    assert (len(rows), after) == (5, None)


def test_a_hidden_document_and_a_missing_one_look_the_same(manager, documents):
    assert read_document(manager, documents[0].id)[0]["id"] == documents[0].id
    for hidden in (documents[1].id, documents[0].customer_id):
        with pytest.raises(RecordNotFoundError):
            read_document(manager, hidden)


def test_parts_come_in_their_order_with_ids_as_json_has_them():
    rates = [TaxRateFactory.create() for _ in range(3)]
    lines = [line_input(tax_rate_id=rates[number % 3].id) for number in range(12)]
    document = make_issued(lines=(*lines, line_input(tax_rate_id=None)))
    _, found_lines, found_rows = read_document(make_staff(), document.id)
    for found, parts in ((found_lines, document.lines), (found_rows, document.tax_rows)):
        wanted = ("position", "tax_rate_id")
        assert [tuple(row[name] for name in wanted) for row in found] == [
            (position, rate_id and str(rate_id))
            for position, rate_id in parts.order_by("position").values_list(*wanted)
        ]
    assert [row["description"] for row in found_lines] == [
        line.description for line in document.lines.all()
    ]
