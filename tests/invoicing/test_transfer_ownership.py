from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agent_access.models import AuditEvent, Connection
from agent_access.verification import find_breaks
from invoicing.administration.ownership import transfer_ownership
from invoicing.errors import PermissionMissingError
from invoicing.models import Company
from tests.administration import acting
from tests.factories import UserFactory
from tests.snapshots import take_snapshot


def transfer(email: str) -> str:
    output = StringIO()
    call_command("transfer_ownership", email, stdout=output)
    return output.getvalue()


def test_a_transfer_makes_another_owner_and_ends_every_connection(connect, delegate, colleague):
    agents = [connect(each)[1] for each in (delegate, colleague)]

    output = transfer(colleague.email.upper())

    assert Company.objects.get().owner == colleague
    assert output == f"{colleague.email} is the owner now. Connections ended: 2.\n"
    reasons = Connection.objects.values_list("revoked_reason", flat=True)
    assert list(reasons) == ["owner_changed"] * 2
    assert {agent.call("teams.list").code for agent in agents} == {"unauthenticated"}
    told = AuditEvent.objects.filter(action="ownership:transferred")
    [facts] = told.values_list("chain", "target", "outcome", "transport")
    assert facts == ("administration", str(colleague.id), "ok", "command")
    assert list(find_breaks({})) == []


def test_the_owner_stays_the_owner_and_nothing_changes(connection, owner):
    before = take_snapshot()

    output = transfer(owner.email)

    assert output == f"{owner.email} is the owner already; nothing was changed.\n"
    assert take_snapshot() == before


def refusal_of(email: str) -> str:
    """Return what the command says when it refuses, having changed nothing."""
    before, events = take_snapshot(), AuditEvent.objects.count()
    with pytest.raises(CommandError) as refused:
        transfer(email)
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)
    return str(refused.value)


@pytest.mark.parametrize("flags", [{"is_active": False}, {"is_guest": True}])
def test_only_an_active_person_of_the_staff_can_become_owner(connection, flags):
    unfit = UserFactory.create(**flags)
    assert refusal_of(unfit.email) == "The owner must be an active person and not a guest."


def test_an_unknown_person_is_told_in_a_sentence(company):
    said = refusal_of("nobody@halden.example")
    assert said == "There is no person with this e-mail address."


def test_nobody_but_the_owner_of_this_moment_hands_over_what_is_theirs(
    connection, owner, colleague
):
    superuser = UserFactory.create(is_staff=True, is_superuser=True)
    transfer_ownership(acting(owner), colleague.pk)
    before, events = take_snapshot(), AuditEvent.objects.count()
    for former in (superuser, owner):
        with pytest.raises(PermissionMissingError):
            transfer_ownership(acting(former), superuser.pk)
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


@pytest.mark.django_db
def test_without_a_company_there_is_nothing_to_own():
    said = refusal_of(UserFactory.create().email)
    assert said == "There is no company yet that could be owned."
