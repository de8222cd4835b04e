"""Who may change whom: nobody gives what they lack, and nobody but the owner touches the owner."""

from datetime import time

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError

from invoicing.access import Permission
from invoicing.administration.people import (
    OWN_MANAGER,
    OWNER_STAYS,
    change_person,
    create_person,
    digest_person,
)
from invoicing.administration.sign_ins import make_code, sign_out_everywhere
from invoicing.errors import CodeInvalidError, ConflictError, PermissionMissingError
from invoicing.models import Skill, User
from invoicing.rights import (
    is_administrator,
    may_administer,
    may_change_sign_in,
    may_give_every_right,
    rights_of,
)
from invoicing.services.working_hours import OVERLAP, Stretch, read_hours
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
    change(
        administrator,
        person,
        name=" Paula Plain ",
        job_title="Clerk",
        manager=administrator,
        skills=[skill],
    )
    person = read(person)
    assert (person.name, person.job_title, person.manager) == (
        "Paula Plain",
        "Clerk",
        administrator,
    )
    assert list(person.skills.all()) == [skill]
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

    refuse(PermissionMissingError, lambda: change(administrator, person, **changes))
    refuse(PermissionMissingError, lambda: make_code(acting(administrator), person.pk))
    refuse(PermissionMissingError, lambda: sign_out_everywhere(acting(administrator), person.pk))


@pytest.mark.parametrize("changes", SIGN_IN_CHANGES, ids=first_name)
def test_nor_of_somebody_whose_customers_are_not_theirs(administrator, person, changes):
    customer = CustomerFactory.create(account_managers=[person])
    CustomerFactory.create()  # which neither of them manages
    for act in (
        lambda: change(administrator, person, **changes),
        lambda: make_code(acting(administrator), person.pk),
        lambda: sign_out_everywhere(acting(administrator), person.pk),
    ):
        refuse(PermissionMissingError, act)
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


@pytest.mark.parametrize("name", ["owner", "superuser"])
@pytest.mark.parametrize("changes", RIGHTS_CHANGES, ids=first_name)
def test_a_superuser_and_the_owner_give_rights(request, person, name, changes):
    change(request.getfixturevalue(name), person, **changes)
    assert [getattr(read(person), each) for each in changes] == [True]


@pytest.mark.parametrize("changes", [*SIGN_IN_CHANGES, *RIGHTS_CHANGES], ids=first_name)
@pytest.mark.parametrize("name", ["superuser", "administrator"])
def test_nobody_else_changes_the_owners_sign_in(request, owner, name, changes):
    by = request.getfixturevalue(name)
    refuse(PermissionMissingError, lambda: change(by, owner, **changes))
    refuse(PermissionMissingError, lambda: make_code(acting(by), owner.pk))
    refuse(PermissionMissingError, lambda: sign_out_everywhere(acting(by), owner.pk))


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
    assert [may_give_every_right(each) for each in (owner, superuser, administrator, person)] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("flags", [{"is_active": False}, {"is_guest": True}, {"is_staff": False}])
def test_a_superuser_who_is_out_administers_nothing(superuser, person, flags):
    User.objects.filter(pk=superuser.pk).update(**flags)
    out = read(superuser)
    assert (is_administrator(out), may_give_every_right(out), may_change_sign_in(out, person)) == (
        False,
    ) * 3
    refuse(PermissionMissingError, lambda: change(superuser, person, name="Other"))


def test_an_administrator_who_lost_the_permission_meanwhile_is_refused(administrator, person):
    administrator.has_perm("invoices.change_user")  # what their session believes
    read(administrator).user_permissions.clear()
    refuse(PermissionMissingError, lambda: change(administrator, person, name="Other"))


def test_a_new_person_has_no_password(administrator):
    facts = {"name": "Nora New", "email": "Nora@Halden.example", "is_active": True}
    facts |= {"is_staff": False, "is_superuser": False, "groups": []}  # as a form leaves them
    hours = [Stretch(0, time(9), time(17))]
    person = read(create_person(acting(administrator), facts, hours=hours))
    assert (person.email, person.has_usable_password()) == ("nora@halden.example", False)
    assert read_hours(person) == hours
    assert acts_written() == [("person:created", str(person.id), "")]


@pytest.mark.parametrize(
    "facts",
    [
        {"name": "New", "email": "PLAIN@halden.example"},
        {"name": "New", "email": "no address"},
        {"name": "", "email": "new@halden.example"},
        {"name": "N" * 201, "email": "new@halden.example"},
        {"name": "N\0", "email": "new@halden.example"},
        {"name": "New", "email": "new@halden.example", "hourly_rate": -1},
        {"name": "New", "email": "new@halden.example", "hourly_rate": 2**63},
    ],
)
def test_a_person_who_cannot_be_is_refused(administrator, facts):
    UserFactory.create(email="plain@halden.example")
    refuse(ValidationError, lambda: create_person(acting(administrator), facts))


def test_nobody_is_their_own_manager(administrator, person):
    junior = UserFactory.create(manager=person)
    for manager in (person, junior):
        error = refuse(
            ValidationError, lambda who=manager: change(administrator, person, manager=who)
        )
        assert error.message_dict == {"manager": [OWN_MANAGER]}


def test_hours_follow_one_another(administrator, person):
    wrong = [
        [Stretch(0, time(9), time(12)), Stretch(0, time(11), time(13))],
        [Stretch(0, time(9), time(9))],
        [Stretch(6, time(17), time(9))],
    ]
    seen = digest_person(read(person))
    for hours in wrong:
        error = refuse(
            ValidationError,
            lambda hours=hours: change_person(
                acting(administrator), person.pk, {}, hours=hours, seen=seen
            ),
        )
        assert error.messages == [OVERLAP]
    right = [Stretch(0, time(9), time(12)), Stretch(0, time(12), time(17))]
    change_person(acting(administrator), person.pk, {}, hours=right, seen=seen)
    assert read_hours(person) == right


def test_a_change_of_what_was_not_seen_is_refused(administrator, person):
    seen = digest_person(read(person))
    change(administrator, person, name="First")
    late = {"name": "Second"}
    refuse(
        ConflictError,
        lambda: change_person(acting(administrator), person.pk, late, seen=seen),
    )


def test_hours_that_were_not_seen_are_not_written_over(administrator, person):
    seen = digest_person(read(person))
    hours = [Stretch(0, time(9), time(17))]
    change_person(acting(administrator), person.pk, {}, hours=hours, seen=seen)
    refuse(
        ConflictError,
        lambda: change_person(acting(administrator), person.pk, {}, hours=[], seen=seen),
    )


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


def test_a_change_that_changes_nothing_leaves_no_trace(administrator, person):
    skill = Skill.objects.create(name="Typing")
    person.skills.add(skill)
    change(administrator, person, name=person.name, skills=[skill], groups=[])
    assert acts_written() == []


def test_an_inactive_person_gets_no_code(administrator, person):
    User.objects.filter(pk=person.pk).update(is_active=False)
    refuse(CodeInvalidError, lambda: make_code(acting(administrator), person.pk))
