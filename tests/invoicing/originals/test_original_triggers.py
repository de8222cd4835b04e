"""An original is only ever added, and only to an issued document, whatever the statement."""

import pytest

from invoicing.models import Original, OriginalKind
from tests.factories import make_draft, make_issued
from tests.invoicing import statements
from tests.invoicing.statements import OTHER_ID, columns_of, refuse

pytestmark = pytest.mark.django_db

TOLD = "An original cannot be"
DRAFT = "(SELECT id FROM invoices_document WHERE status = 'draft')"


@pytest.fixture
def original(company) -> Original:
    return Original.objects.create(
        document=make_issued(),
        kind=OriginalKind.XRECHNUNG,
        content=b"<x/>",
        digest="0" * 64,
        made_with={},
    )


@pytest.mark.parametrize("change", ["kind = 'pdf'", "made_at = made_at", f"id = {OTHER_ID}"])
def test_no_statement_changes_it(original, change):
    refuse(f"UPDATE invoices_original SET {change}", told=TOLD)  # noqa: S608  the test's own


def test_no_statement_deletes_it(original):
    refuse("DELETE FROM invoices_original", told=TOLD)


@pytest.mark.postgresql
def test_no_statement_empties_its_table(original):
    statements.truncate("invoices_original", told=TOLD)


@pytest.mark.postgresql
def test_no_statement_of_two_kinds_changes_it(original):
    again = "INSERT INTO invoices_original SELECT * FROM invoices_original"
    refuse(f"{again} ON CONFLICT (id) DO UPDATE SET kind = 'pdf'", told=TOLD)


@pytest.mark.sqlite
@pytest.mark.parametrize("same", [{"id"}, {"document_id", "kind"}, {"rowid"}])
def test_no_row_replaces_it(original, same):
    other = {"rowid": "NULL", "id": OTHER_ID, "kind": "'pdf'"}
    names = ["rowid", *columns_of(Original)]
    values = [name if name in same else other.get(name, name) for name in names]
    refuse(
        f"INSERT OR REPLACE INTO invoices_original ({', '.join(names)})"  # noqa: S608  as above
        f" SELECT {', '.join(values)} FROM invoices_original",
        told=TOLD,
    )


def test_no_draft_gets_one(original):
    make_draft()
    others = {"id": OTHER_ID, "document_id": DRAFT}
    columns = columns_of(Original)
    values = ", ".join(others.get(name, name) for name in columns)
    refuse(
        f"INSERT INTO invoices_original ({', '.join(columns)})"  # noqa: S608  as above
        f" SELECT {values} FROM invoices_original",
        told="Only an issued document has an original",
    )
