"""The upgrade to lawful papers, rehearsed with the issued documents of the release before."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from agent_access.database import triggers
from agent_access.verification import find_breaks
from invoicing.models import Document, Line, NumberFormat, TaxRow
from tests.factories import CustomerFactory, TaxRateFactory, line_input, make_draft, make_issued
from tests.interface.issuing import decide, execute, prepare
from tests.upgrades import migrate, migrate_back, read_rows

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("many_calls"),
    pytest.mark.prove,
]

ISSUED = 120
KEPT = {model._meta.db_table: model for model in (Document, Line, TaxRow)}


def test_issued_documents_and_approvals_outlive_the_upgrade(agent, delegate, desk_of):
    customer, rate = CustomerFactory.create(), TaxRateFactory.create()
    lines = (line_input(tax_rate_id=rate.id),)
    given: dict[str, Any] = {"user": delegate, "customer": customer, "lines": lines}
    last = [make_issued(**given) for _ in range(ISSUED)][-1]
    asked = [prepare(agent, make_draft(**given).id, key=f"prepare-{n}").data for n in range(2)]
    decide(asked[1])
    migrate_back("invoices", "0018")
    former = {table: read_rows(table) for table in KEPT}

    migrate()

    for table, model in KEPT.items():
        rows = read_rows(table)
        old = {pk: {name: rows[pk][name] for name in row} for pk, row in former[table].items()}
        assert old == former[table]
        added = {str(field.column) for field in model._meta.local_concrete_fields}
        added -= {*next(iter(former[table].values()))}
        assert {rows[pk][name] for pk in rows for name in added} <= {"", None}
    for folder in triggers.installed_folders:
        assert triggers.find_differences(connection, folder) == []
    with pytest.raises(IntegrityError, match="issued document"), transaction.atomic():
        Document.objects.filter(pk=last.pk).update(notes="forged")
    assert list(find_breaks()) == []
    assert not NumberFormat.objects.exclude(prefix="INV-").exists()

    assert desk_of.get(f"/documents/{last.pk}").status_code == 200
    decide(asked[0])
    told = [execute(agent, each, key=f"execute-{n}").data for n, each in enumerate(asked)]
    assert [each["number"] for each in told] == ["INV-2026-0121", "INV-2026-0122"]


@pytest.fixture
def desk_of(sign_in, delegate) -> Any:
    return sign_in(delegate)
