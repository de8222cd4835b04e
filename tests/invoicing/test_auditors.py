"""Who makes whom an auditor: a guest, with one permission that comes and goes with a last day."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.contrib.auth.models import Permission as PermissionRow
from django.core.exceptions import ValidationError

from invoicing.access import Permission
from invoicing.administration.auditors import (
    MOST_DAYS,
    NO_GUEST,
    NO_LAST_DAY,
    OTHER_RIGHTS,
    WRONG_DAY,
)
from invoicing.administration.people import change_person, create_person, digest_person
from invoicing.errors import PermissionMissingError
from invoicing.models import User
from invoicing.rights import may_read_evidence, rights_of
from tests.administration import acting, acts_written, make_administrator, read
from tests.factories import UserFactory, grant, make_auditor
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

TODAY = date(2026, 3, 2)
LAST = TODAY + timedelta(days=MOST_DAYS)
AUDIT = {str(Permission.AUDIT)}


@pytest.fixture(autouse=True)
def _clock(time_machine) -> None:
    time_machine.move_to(datetime(2026, 3, 2, 23, 59, tzinfo=UTC), tick=False)


@pytest.fixture
def guest(company) -> User:
    return UserFactory.create(is_guest=True)


@pytest.fixture
def auditor(company) -> User:
    return make_auditor(TODAY)


def permission(name: Permission) -> PermissionRow:
    return PermissionRow.objects.get(codename=name.partition(".")[2])


def change(by: User, person: User, **changes: object) -> User:
    return change_person(acting(by), person.pk, changes, seen=digest_person(read(person)))


def refuse(by: User, person: User, **changes: object) -> object:
    """Return why a change is refused, which must write nothing."""
    before = take_snapshot(), acts_written()
    with pytest.raises((ValidationError, PermissionMissingError)) as refused:
        change(by, person, **changes)
    assert (take_snapshot(), acts_written()) == before
    error = refused.value
    return error.message_dict if isinstance(error, ValidationError) else type(error)


@pytest.mark.parametrize("day", [TODAY, LAST])
def test_the_owner_makes_a_guest_an_auditor_by_the_last_day_alone(owner, guest, day):
    change(owner, guest, audits_until=day)
    made = read(guest)
    assert (made.audits_until, rights_of(made), may_read_evidence(made)) == (day, AUDIT, True)
    detail = f"audits_until={day}, user_permissions"
    assert acts_written() == [("person:changed", str(guest.pk), detail)]


def test_a_new_person_is_made_an_auditor_at_once(owner):
    fields = {"name": "Ute", "email": "ute@audit.example", "is_guest": True}
    made = create_person(acting(owner), {**fields, "audits_until": LAST, "groups": []})
    assert (read(made).audits_until, rights_of(made)) == (LAST, AUDIT)
    assert acts_written() == [("person:created", str(made.pk), f"audits_until={LAST}")]


def test_without_the_day_the_permission_is_gone_too(owner, auditor):
    ticked = [permission(Permission.AUDIT)]
    change(owner, auditor, audits_until=None, user_permissions=ticked)
    ended = read(auditor)
    assert (ended.audits_until, rights_of(ended), may_read_evidence(ended)) == (None, set(), False)
    [(_, _, detail)] = acts_written()
    assert detail == "audits_until=none, user_permissions"


def test_a_day_that_ended_is_kept_while_something_else_is_changed(owner, auditor, time_machine):
    time_machine.move_to(datetime(2026, 9, 1, tzinfo=UTC), tick=False)
    change(owner, auditor, name="Ute Auditor", audits_until=TODAY)
    assert read(auditor).audits_until == TODAY


@pytest.mark.parametrize("day", [TODAY - timedelta(days=1), LAST + timedelta(days=1)])
def test_no_day_that_is_over_and_none_after_a_year_is_taken(owner, guest, day):
    assert refuse(owner, guest, audits_until=day) == {"audits_until": [WRONG_DAY]}


def test_nobody_but_a_guest_is_made_an_auditor_or_stays_one(owner, auditor):
    colleague = UserFactory.create()
    assert refuse(owner, colleague, audits_until=LAST) == {"audits_until": [NO_GUEST]}
    assert refuse(owner, auditor, is_guest=False) == {"audits_until": [NO_GUEST]}


@pytest.mark.parametrize("right", ["is_staff", "is_superuser", "groups", "user_permissions"])
def test_an_auditor_has_no_other_right(owner, guest, auditor, right):
    rights = {
        "groups": [Group.objects.create(name="Viewer")],
        "user_permissions": [permission(Permission.AUDIT), permission(Permission.VIEW_DOCUMENT)],
    }
    given = rights.get(right, True)
    problem = {"audits_until": [OTHER_RIGHTS]}
    assert refuse(owner, guest, audits_until=LAST, **{right: given}) == problem
    assert refuse(owner, auditor, **{right: given}) == problem


def test_a_guest_with_the_permission_needs_a_day(owner, guest):
    ticked = [permission(Permission.AUDIT)]
    assert refuse(owner, guest, user_permissions=ticked) == {"audits_until": [NO_LAST_DAY]}


def test_a_colleague_gets_the_permission_as_any_other(owner):
    colleague = UserFactory.create()
    change(owner, colleague, user_permissions=[permission(Permission.AUDIT)])
    assert may_read_evidence(read(colleague))


def test_who_may_not_give_rights_makes_no_auditor_and_gives_no_more_time(guest, auditor):
    """Else they could let themselves in as a guest, by a one-time link."""
    administrator = make_administrator("change_user", "add_user")
    grant(administrator, Permission.AUDIT)
    for person in (guest, auditor):
        for day in (LAST, None):
            if person.audits_until != day:
                assert refuse(administrator, person, audits_until=day) is PermissionMissingError
    before = take_snapshot()
    fields = {"name": "Me", "email": "me@halden.example", "is_guest": True, "audits_until": LAST}
    with pytest.raises(PermissionMissingError):
        create_person(acting(administrator), fields)
    assert take_snapshot() == before


def test_sessions_end_only_when_time_is_taken_away(owner, auditor):
    revisions = [read(auditor).session_revision]
    for day in (LAST, TODAY + timedelta(days=1), None, TODAY):
        change(owner, auditor, audits_until=day)
        revisions.append(read(auditor).session_revision)
    assert revisions == [1, 1, 2, 3, 3]
