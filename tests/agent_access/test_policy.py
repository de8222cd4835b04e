"""What a project decides about agents: who approves, for whom, and until when."""

from io import StringIO
from typing import Any, ClassVar

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.core.management import CommandError, call_command
from django.db import models
from django.db.models import QuerySet
from django.test.utils import isolate_apps
from typing_extensions import override

from agent_access import callers, conf, policy
from agent_access.connections import (
    ConnectionNotAllowedError,
    ConnectionRequest,
    create_connection,
    ended_connections,
)
from agent_access.models import Connection, RevokedReason
from agent_access.policy import Policy
from agent_access.tools import registry
from invoicing.models import User
from tests.agents import HttpAgent
from tests.factories import UserFactory


class EachTheirOwn(Policy):
    """Everybody lets agents act for themselves, and for nobody else."""

    @override
    def may_approve(self, user: Any) -> bool:
        return True

    @override
    def delegates(self, approver: Any) -> QuerySet[Any]:
        return super().delegates(approver).filter(pk=approver.pk)


@pytest.fixture
def use_policy(settings):
    def use(policy: type[Policy]) -> None:
        settings.AGENT_ACCESS |= {"POLICY": f"{policy.__module__}.{policy.__name__}"}
        callers.forget_statements()

    yield use
    callers.forget_statements()


@pytest.fixture
def defaults(access_on, use_policy) -> None:
    use_policy(Policy)


def connect(user: User, approver: User | None = None) -> tuple[Connection, HttpAgent]:
    request = ConnectionRequest(
        user=user, scopes=["people:read"], days=1, name="Agent", approver=approver
    )
    connection, credential = create_connection(request)
    return connection, HttpAgent(credential)


def status_of(agent: HttpAgent) -> int:
    return agent.request("GET", "/api/v1/tools").status


def reason_of(connection: Connection) -> str:
    connection.refresh_from_db()
    return connection.revoked_reason


@pytest.mark.usefixtures("defaults")
def test_by_default_superusers_approve_for_every_active_person(superuser, delegate, colleague):
    connection, agent = connect(delegate, superuser)
    assert (connection.owner_id, status_of(agent)) == (superuser.pk, 200)
    with pytest.raises(ConnectionNotAllowedError, match="Only the owner"):
        connect(delegate, colleague)


@pytest.mark.usefixtures("defaults")
@pytest.mark.parametrize("flag", ["is_superuser", "is_active"])
def test_a_connection_ends_with_the_right_of_whoever_approved_it(superuser, delegate, flag):
    connection, agent = connect(delegate, superuser)
    User.objects.filter(pk=superuser.pk).update(**{flag: False})
    assert list(ended_connections(delegate)) == [connection]
    assert status_of(agent) == 401
    assert reason_of(connection) == RevokedReason.OWNER_CHANGED


@pytest.mark.usefixtures("defaults")
def test_the_command_line_approves_in_the_name_of_the_first_superuser(superuser, delegate):
    UserFactory.create(is_superuser=True)
    assert connect(delegate)[0].owner_id == superuser.pk


@pytest.mark.usefixtures("defaults")
def test_the_command_line_may_name_who_approves(superuser, delegate, colleague):
    other = UserFactory.create(is_superuser=True)
    options = {"user": delegate.email, "scopes": "people:read", "days": 1}
    call_command("connect_agent", **options, approver=other.email, stdout=StringIO())
    assert Connection.objects.get().owner_id == other.pk
    with pytest.raises(CommandError, match="Only the owner"):
        call_command("connect_agent", **options, approver=colleague.email)


def test_each_person_can_connect_agents_of_their_own(access_on, use_policy, delegate, colleague):
    use_policy(EachTheirOwn)
    _, agent = connect(delegate, delegate)
    assert status_of(agent) == 200
    with pytest.raises(ConnectionNotAllowedError, match="act for that person"):
        connect(colleague, delegate)


def test_a_connection_ends_once_its_user_is_nobody_that_the_approver_may_connect(
    access_on, use_policy, superuser, delegate
):
    use_policy(Policy)
    connection, agent = connect(delegate, superuser)
    use_policy(EachTheirOwn)
    assert list(ended_connections(delegate)) == [connection]
    assert status_of(agent) == 401
    assert reason_of(connection) == RevokedReason.OWNER_CHANGED


@pytest.mark.usefixtures("defaults")
def test_another_password_ends_a_connection_without_a_column_of_the_projects(superuser, delegate):
    connection, agent = connect(delegate, superuser)
    assert 0 <= connection.session_revision < 2**31
    delegate.set_password("another-long-password")
    delegate.save(update_fields=["password"])
    assert list(ended_connections(delegate)) == [connection]
    assert status_of(agent) == 401
    assert reason_of(connection) == RevokedReason.SESSIONS_ENDED


@pytest.mark.usefixtures("defaults")
def test_a_connection_outlives_another_secret_key_as_long_as_sessions_do(
    superuser, delegate, settings
):
    connection, agent = connect(delegate, superuser)
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-which-guards-nothing-at-all"
    settings.SECRET_KEY_FALLBACKS = [former]
    assert status_of(agent) == 200
    assert not ended_connections(delegate).exists()
    settings.SECRET_KEY_FALLBACKS = []
    assert status_of(agent) == 401
    assert reason_of(connection) == RevokedReason.SESSIONS_ENDED


@isolate_apps()
def test_users_without_columns_of_django_are_all_active_and_none_is_a_superuser(monkeypatch):
    class Person(AbstractBaseUser):
        name = models.CharField(max_length=10)
        USERNAME_FIELD = "name"
        objects: ClassVar[Any] = models.Manager()

        class Meta:
            app_label = "people"

    monkeypatch.setattr(policy, "get_user_model", lambda: Person)
    assert str(Policy().delegates(Person()).query) == str(Person.objects.order_by("name").query)
    assert Policy().default_approver() is None


def test_by_default_a_scope_is_described_by_its_tools():
    told = Policy().scopes()
    assert [*told] == [*registry.scopes]
    assert told["people:read"].is_ticked_beforehand
    assert not told["invoices:prepare"].is_ticked_beforehand
    titles = [tool.title for tool in registry if tool.scope == "people:read"]
    assert told["people:read"].description == f"{'. '.join(titles)}."


def test_by_default_the_service_is_called_by_its_host():
    service = Policy().service()
    assert (service.name, service.title) == ("invoices.example", "invoices.example")


def test_invoicing_has_a_policy_of_its_own():
    assert conf.policy().sole_approver_sql() is not None
