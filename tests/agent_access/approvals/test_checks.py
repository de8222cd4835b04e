from types import ModuleType

import pytest

from agent_access.approvals.checks import check_pages
from agent_access.approvals.kinds import KindRegistry

# No database decides which paths there are.
pytestmark = pytest.mark.sqlite


def ids() -> list[str | None]:
    return [each.id for each in check_pages()]


def test_kinds_whose_pages_no_path_leads_to_are_refused(settings, monkeypatch):
    assert ids() == []
    without = ModuleType("without_pages")
    without.urlpatterns = []  # type: ignore[attr-defined]  # as a URLconf has them
    settings.ROOT_URLCONF = without
    assert ids() == ["agent_approvals.E001"]
    monkeypatch.setattr("agent_access.approvals.checks.kinds", KindRegistry())
    assert ids() == []
