"""What was approved before demands were kept is executed after the upgrade, unless one is made."""

import pytest

from agent_access.approvals.models import ApprovalRequest
from tests.factories import make_draft
from tests.interface.issuing import decide, execute, prepare, read
from tests.signing import demand
from tests.upgrades import migrate, migrate_back

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("many_calls"),
    pytest.mark.prove,
]


@pytest.fixture
def upgraded(agent, delegate) -> dict[str, dict[str, str]]:
    """Two requests of the release before, one of them approved there."""
    told = {name: prepare(agent, make_draft(user=delegate).id, key=name).data for name in "ab"}
    decide(told["a"])
    try:
        migrate_back("agent_approvals", "0002")
    finally:
        migrate()
    return told


def test_what_was_asked_before_goes_on_where_nothing_is_demanded(agent, upgraded):
    assert list(ApprovalRequest.objects.values_list("demand", flat=True)) == [None, None]
    assert read(agent, upgraded["a"])["status"] == "approved"
    assert execute(agent, upgraded["a"], key="execute-a").status == 200
    decide(upgraded["b"])
    assert execute(agent, upgraded["b"], key="execute-b").status == 200


def test_what_was_approved_before_is_signed_where_that_is_demanded_now(agent, upgraded):
    demand(always=True)
    assert read(agent, upgraded["a"])["status"] == "pending"
    assert execute(agent, upgraded["a"]).code == "approval_pending"
    assert ApprovalRequest.objects.filter(executed_at=None).count() == 2
