"""Who may change whom: nobody gives what they lack, and nobody but the owner touches the owner."""

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError

from invoicing.access import Permission
from invoicing.administration.people import OWNER_STAYS, change_person, create_person, digest_person
from invoicing.administration.sign_ins import make_code, sign_out_everywhere
from invoicing.errors import PermissionMissingError
from invoicing.models import Skill, User
from invoicing.rights import (
    is_administrator,
    may_administer,
    may_change_sign_in,
    may_give_every_right,
    rights_of,
)
from tests.administration import acting, acts_written, make_administrator, read
from tests.factories import CustomerFactory, UserFactory, grant
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

CHANGE = "change_user"


@pytest.fixture
def administrator(company) -> User:
    return make_administrator(CHANGE, "add_user", name="Ada Admin")


@pytest.fixture
def person(company) -> User:
    return UserFactory.create(name="Paul Plain")


def change(by: User, person: User, **changes: object):
    return change_person(acting(by), person.pk, changes, seen=digest_person(read(person)))


def refuse_all(by: User, person: User, **changes: object) -> None:
    """All that ends or changes how the person signs in must be refused."""
    refuse(PermissionMissingError, lambda: change(by, person, **changes))
    refuse(PermissionMissingError, lambda: make_code(acting(by), person.pk))
    refuse(PermissionMissingError, lambda: sign_out_everywhere(acting(by), person.pk))


def refuse(error, act):
    before = take_snapshot()
    events = acts_written()
    with pytest.raises(error) as refused:
        act()
    assert (take_snapshot(), acts_written()) == (before, events)
    return refused.value


def first_name(changes: dict[str, object]) -> str:
    return next(iter(changes))


SIGN_IN_CHANGES = [{"email": "new@halden.example"}, {"is_active": False}, {"is_guest": True}]
RIGHTS_CHANGES = [{"is_staff": True}, {"is_superuser": True}]


def test_an_administrator_edits_who_a_person_is(administrator, person):
    skill = Skill.objects.create(name="Typing")
    changes = {"name": " Paula Plain ", "job_title": "Clerk", "manager": administrator}
    change(administrator, person, **changes, skills=[skill])
    person = read(person)
    kept = (person.name, person.job_title, person.manager, *person.skills.all())
    assert kept == ("Paula Plain", "Clerk", administrator, skill)
    detail = "name, job_title, manager, skills"
    assert acts_written() == [("person:changed", str(person.id), detail)]


@pytest.mark.parametrize("changes", SIGN_IN_CHANGES, ids=first_name)
def test_an_administrator_changes_the_sign_in_of_somebody_with_no_more_rights(
    administrator, person, changes
):
    change(administrator, person, **changes)
    assert [getattr(read(person), name) for name in changes] == list(changes.values())


@pytest.mark.parametrize("changes", SIGN_IN_CHANGES, ids=first_name)
@pytest.mark.parametrize("right", ["permission", "role", "role of an inactive", "staff", "super"])
def test_but_not_of_somebody_who_may_do_more(administrator, person, right, changes):
    if right == "permission":
        grant(person, Permission.FINALIZE)
    if right.startswith("role"):
        role = Group.objects.create(name="Issuer")
        grant(UserFactory.create(), Permission.FINALIZE)
        role.permissions.set(User.objects.latest("id").user_permissions.all())
        person.groups.add(role)
    flags = {"is_staff": right == "staff", "is_superuser": right == "super"}
    is_active = not right.endswith("inactive")
    User.objects.filter(pk=person.pk).update(**flags, is_active=is_active)
    changes = changes if is_active else changes | {"is_active": True}

    refuse_all(administrator, person, **changes)


@pytest.mark.parametrize("changes", SIGN_IN_CHANGES, ids=first_name)
def test_nor_of_somebody_whose_customers_are_not_theirs(administrator, person, changes):
    customer = CustomerFactory.create(account_managers=[person])
    CustomerFactory.create()  # which neither of them manages
    refuse_all(administrator, person, **changes)
    customer.account_managers.add(administrator)
    assert make_code(acting(administrator), person.pk)


def test_who_reaches_all_customers_reaches_theirs(administrator, person):
    CustomerFactory.create(account_managers=[person])
    grant(administrator, Permission.VIEW_ALL_CUSTOMERS)
    assert make_code(acting(administrator), person.pk)


def test_a_right_that_both_have_is_no_obstacle(administrator, person):
    grant(administrator, Permission.FINALIZE)
    grant(person, Permission.FINALIZE)
    assert make_code(acting(administrator), person.pk)
    person.user_permissions.set(administrator.user_permissions.all())
    assert rights_of(person) == rights_of(administrator)
    assert make_code(acting(administrator), person.pk)


@pytest.mark.parametrize("who", ["person", "administrator"])
@pytest.mark.parametrize("changes", RIGHTS_CHANGES, ids=first_name)
def test_an_administrator_gives_nobody_rights_and_themselves_none(
    request, administrator, who, changes
):
    target = request.getfixturevalue(who)
    wanted = {name: not getattr(target, name) for name in changes}
    refuse(PermissionMissingError, lambda: change(administrator, target, **wanted))
    role = Group.objects.create(name="Chief")
    refuse(PermissionMissingError, lambda: change(administrator, target, groups=[role]))
    rows = [*administrator.user_permissions.all()][:1]
    refuse(PermissionMissingError, lambda: change(administrator, target, user_permissions=rows))


@pytest.mark.parametrize("changes", [{"is_staff": True}, {"groups": "one"}], ids=first_name)
def test_an_administrator_makes_no_person_with_rights(administrator, changes):
    if "groups" in changes:
        changes = {"groups": [Group.objects.create(name="Chief")]}
    facts = {"name": "New", "email": "new@halden.example", **changes}
    refuse(PermissionMissingError, lambda: create_person(acting(administrator), facts))


@pytest.mark.parametrize("changes", [*SIGN_IN_CHANGES, *RIGHTS_CHANGES], ids=first_name)
@pytest.mark.parametrize("name", ["superuser", "administrator"])
def test_nobody_else_changes_the_owners_sign_in(request, owner, name, changes):
    refuse_all(request.getfixturevalue(name), owner, **changes)


def test_the_owner_changes_their_own_address_and_makes_their_own_link(owner):
    change(owner, owner, email="OLIVIA.NEW@halden.example")
    assert read(owner).email == "olivia.new@halden.example"
    assert make_code(acting(owner), owner.pk)


@pytest.mark.parametrize(
    ("by", "changes"), [("administrator", {"job_title": "Founder"}), ("owner", {"is_staff": True})]
)
def test_others_edit_who_the_owner_is_and_the_owner_their_own_rights(request, owner, by, changes):
    change(request.getfixturevalue(by), owner, **changes)
    assert [getattr(read(owner), name) for name in changes] == list(changes.values())


@pytest.mark.parametrize("changes", [{"is_active": False}, {"is_guest": True}], ids=first_name)
def test_the_owner_stays_before_a_transfer(owner, changes):
    error = refuse(ValidationError, lambda: change(owner, owner, **changes))
    assert error.message_dict == {name: [OWNER_STAYS] for name in changes}


def test_who_needs_no_permission_is_the_owner(owner, administrator, superuser, person):
    for permission in ("invoices.change_company", "invoices.add_team"):
        able = {each.name for each in User.objects.all() if may_administer(each, permission)}
        assert able == {owner.name, superuser.name}
    everybody = (owner, superuser, administrator, person)
    assert [each for each in everybody if may_give_every_right(each)] == [owner, superuser]


@pytest.mark.parametrize("flags", [{"is_active": False}, {"is_guest": True}, {"is_staff": False}])
def test_a_superuser_who_is_out_administers_nothing(superuser, person, flags):
    User.objects.filter(pk=superuser.pk).update(**flags)
    out = read(superuser)
    assert not is_administrator(out)
    assert not may_give_every_right(out)
    assert not may_change_sign_in(out, person)
    refuse(PermissionMissingError, lambda: change(superuser, person, name="Other"))


def test_an_administrator_who_lost_the_permission_meanwhile_is_refused(administrator, person):
    administrator.has_perm("invoices.change_user")  # what their session believes
    read(administrator).user_permissions.clear()
    refuse(PermissionMissingError, lambda: change(administrator, person, name="Other"))


@pytest.mark.parametrize(
    "columns",
    [{"last_login": "2026-03-02T09:00:00Z"}, {"password": "!x"}, {"session_revision": 7}],
    ids=str,
)
def test_who_signs_in_or_out_meanwhile_changes_nothing_that_was_seen(
    administrator, person, columns
):
    seen = digest_person(read(person))
    User.objects.filter(pk=person.pk).update(**columns)
    change_person(acting(administrator), person.pk, {"name": "Other"}, seen=seen)
    assert read(person).name == "Other"
