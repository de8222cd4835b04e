from unittest.mock import Mock

import pytest

from invoicing.models import Document, DocumentStatus, TaxRow
from invoicing.services.drafts import update_draft
from tests.factories import draft_input, make_draft, make_staff
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db


def test_a_draft_code_is_eight_characters_that_nobody_misreads() -> None:
    code = make_draft().draft_code
    assert code[:2] == "D-"
    assert len(code) == 10
    assert not set(code[2:]) & set("ILOU")


def test_a_failed_update_leaves_the_old_lines(monkeypatch) -> None:
    user, document = make_staff(), make_draft()
    before = take_snapshot()
    failure = Mock(side_effect=RuntimeError("the power went out"))
    monkeypatch.setattr(TaxRow.objects, "bulk_create", failure)
    with pytest.raises(RuntimeError, match="the power went out"):
        update_draft(user, document.pk, draft_input(document.customer), lock_version=1)
    assert take_snapshot() == before
    assert Document.objects.get().status == DocumentStatus.DRAFT
