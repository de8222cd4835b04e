"""One statement tells who calls, what the person may, and what is switched on."""

from typing import Any

import pytest
from django.contrib.auth.backends import BaseBackend, ModelBackend
from django.contrib.auth.models import Group
from django.contrib.auth.models import Permission as StoredPermission
from django.db import connection as database
from typing_extensions import override

from agent_access import callers
from agent_access.callers import Caller, find_caller
from agent_access.keys import to_key
from agent_access.models import Connection
from invoicing.access import Permission
from invoicing.agent_host import InvoicingPolicy
from invoicing.models import User
from tests.factories import UserFactory


@pytest.fixture
def person(company):
    """Somebody with one permission of their own and one of a group, which they have twice."""
    group = Group.objects.create(name="Bookkeepers")
    stored = StoredPermission.objects.filter(codename__in=["manage", "finalize"])
    group.permissions.set(stored)
    user = UserFactory.create(permissions=[Permission.VIEW_PERSON, Permission.MANAGE])
    user.groups.add(group)
    return user


def find(connection: Connection) -> Caller:
    caller = find_caller(id=connection.id)
    assert caller is not None
    return caller


@pytest.fixture
def own_statement():
    """Keep no statement of a project that is made to be another for a while."""
    callers.forget_statements()
    yield
    callers.forget_statements()


def test_permissions_are_those_that_django_finds(connect, person):
    connection, _ = connect(person)
    known = find(connection).connection.user.get_all_permissions()
    assert known == User.objects.get(pk=person.pk).get_all_permissions()
    assert known == {Permission.VIEW_PERSON, Permission.MANAGE, Permission.FINALIZE}


def test_a_permission_with_a_space_in_its_name_is_one_permission(connect, company):
    """A project names its permissions as it likes; none of them may be read as two."""
    odd = StoredPermission.objects.create(
        codename="x invoices.finalize",
        name="Odd",
        content_type=StoredPermission.objects.get(codename="manage").content_type,
    )
    person = UserFactory.create()
    person.user_permissions.add(odd)
    known = find(connect(person)[0]).connection.user.get_all_permissions()
    assert known == {"invoices.x invoices.finalize"}


class GivesEveryPermission(BaseBackend):
    """A further source of permissions, such as a directory of the company."""

    @override
    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        return True


@pytest.mark.usefixtures("own_statement")
def test_another_backend_is_asked_by_django_itself(connect, person, settings):
    further = f"{__name__}.{GivesEveryPermission.__name__}"
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, further]
    connection, _ = connect(person)
    user = find(connection).connection.user
    assert user.has_perm(Permission.FINALIZE)
    assert user.has_perm(Permission.VIEW_ALL_CUSTOMERS)


class LikeDjangos(ModelBackend):
    """A backend made of Django's own, which gives one permission more."""

    @override
    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        return {*super().get_all_permissions(user_obj, obj), str(Permission.FINALIZE)}


@pytest.mark.usefixtures("own_statement")
def test_the_permissions_of_a_backend_made_of_djangos_own_are_read_by_itself(
    connect, company, settings
):
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.{LikeDjangos.__name__}"]
    user = find(connect(UserFactory.create())[0]).connection.user
    assert "_perm_cache" not in vars(user)
    assert user.has_perm(Permission.FINALIZE)


@pytest.mark.usefixtures("own_statement")
def test_a_backend_that_only_signs_in_otherwise_costs_no_query_for_permissions(
    connect, person, settings, django_assert_num_queries
):
    settings.AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.RemoteUserBackend"]
    user = find(connect(person)[0]).connection.user
    with django_assert_num_queries(0):
        assert user.has_perm(Permission.VIEW_PERSON)
        assert not user.has_perm(Permission.VIEW_ALL_CUSTOMERS)


@pytest.mark.usefixtures("own_statement")
def test_further_backends_cost_no_query_for_permissions_in_djangos_tables(
    connect, person, settings, django_assert_num_queries
):
    further = f"{__name__}.{GivesEveryPermission.__name__}"
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, further]
    user = find(connect(person)[0]).connection.user
    with django_assert_num_queries(0):
        assert user.has_perm(Permission.VIEW_PERSON)
        assert callers.permissions_may_have_changed(user, user)


@pytest.mark.usefixtures("own_statement")
def test_a_policy_without_a_statement_is_asked_about_the_approver_and_the_user(
    connection, company, colleague, monkeypatch
):
    monkeypatch.setattr(InvoicingPolicy, "sole_approver_sql", lambda _: None)
    assert find(connection).is_approved
    User.objects.filter(pk=connection.user_id).update(is_active=False)
    assert not find(connection).is_approved
    User.objects.filter(pk=connection.user_id).update(is_active=True)
    company.owner = colleague
    company.save()
    assert not find(connection).is_approved


@pytest.mark.usefixtures("own_statement")
@pytest.mark.django_db
def test_the_default_policy_costs_a_call_no_further_query(
    connect, superuser, delegate, settings, django_assert_num_queries
):
    settings.AGENT_ACCESS |= {"POLICY": "agent_access.policy.Policy"}
    connection, _ = connect(delegate)
    assert connection.owner_id == superuser.pk
    find(connection)
    with django_assert_num_queries(1):
        assert find(connection).is_approved


@pytest.mark.postgresql  # whose expression it is
@pytest.mark.parametrize("number", [1, 42, 2**31, 2**63 - 1])
def test_postgresql_reads_the_number_of_a_key(db, number):
    with database.cursor() as cursor:
        expression = callers.POSTGRESQL_NUMBER.replace("held.owner_id", "%s::uuid")
        cursor.execute(f"SELECT {expression}", [to_key(number)])
        assert cursor.fetchone() == (number,)
