"""Thirty people, with roles, teams, skills, working hours and private data."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.contrib.auth.models import Permission as PermissionRow

from invoicing.access import Permission
from invoicing.models import Skill, Team, TimeOff, TimeOffKind, User, WorkingHours
from invoicing.sample_company.tables import Row, read_table, split_cell

DOMAIN = "halden.example"

Staff = Mapping[str, User]

VIEW = (Permission.VIEW_CUSTOMER, Permission.VIEW_DOCUMENT, Permission.VIEW_PERSON)
ROLES = {
    "Director": tuple(Permission),
    "Bookkeeper": tuple(Permission),
    "Account manager": (*VIEW, Permission.MANAGE),
    "Viewer": (*VIEW, Permission.VIEW_ALL_CUSTOMERS),
}

TEAMS = {
    "Finance": "Invoices, taxes and purchasing.",
    "Sales": "Customers and offers.",
    "Design": "Drawings, models and light.",
    "Workshop": "Timber, metal, fitting and dispatch.",
    "Fax desk": "Took orders by fax until the end of 2024.",
}
ARCHIVED_TEAM = "Fax desk"
ARCHIVED_AT = datetime(2024, 12, 31, 17, tzinfo=UTC)

MONDAY_TO_FRIDAY = range(5)
SUNDAY_TO_THURSDAY = (6, 0, 1, 2, 3)
WORKING_WEEKS = {
    "full": (MONDAY_TO_FRIDAY, [(time(9), time(12, 30)), (time(13), time(17, 30))]),
    "early": (MONDAY_TO_FRIDAY, [(time(7), time(15))]),
    "part": (range(4), [(time(8, 30), time(13))]),
    "gulf": (SUNDAY_TO_THURSDAY, [(time(8), time(16))]),
    "none": ((), []),
}

GUEST = "gwen"
DEACTIVATED = "ivan"


def write_staff(password: str) -> Staff:
    """Save the people with all their data; return them by mailbox, such as "dana"."""
    rows = read_table("people")
    staff: dict[str, User] = {}
    for number, row in enumerate(rows):
        staff[row["mailbox"]] = _write_person(row, number, staff.get(row["manager"]))
    # Hashed once for all: scrypt is slow by design, and they share the password.
    people = User.objects.filter(pk__in=[person.pk for person in staff.values()])
    people.update(password=make_password(password))
    _write_roles(rows, staff)
    _write_skills(rows, staff)
    _write_teams(rows, staff)
    WorkingHours.objects.bulk_create(
        hours for row in rows for hours in _working_hours(row, staff[row["mailbox"]])
    )
    TimeOff.objects.bulk_create(_holidays(staff))
    return staff


def _write_person(row: Row, number: int, manager: User | None) -> User:
    mailbox = row["mailbox"]
    return User.objects.create_user(
        email=f"{mailbox}@{DOMAIN}",
        name=row["name"],
        job_title=row["job_title"],
        manager=manager,
        time_zone=row["time_zone"],
        is_active=mailbox != DEACTIVATED,
        is_guest=mailbox == GUEST,
        private_email=f"{mailbox}@home.{DOMAIN}",
        private_phone=f"+49 30 23125 {100 + number}",  # numbers reserved for fiction
        hourly_rate=3200 + 150 * number,
    )


def _write_roles(rows: list[Row], staff: Staff) -> None:
    for role, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=role)
        codenames = [permission.removeprefix("invoices.") for permission in permissions]
        group.permissions.set(
            PermissionRow.objects.filter(content_type__app_label="invoices", codename__in=codenames)
        )
        group.user_set.add(*(staff[row["mailbox"]] for row in rows if row["role"] == role))


def _write_skills(rows: list[Row], staff: Staff) -> None:
    names = sorted({name for row in rows for name in split_cell(row["skills"])})
    skills = {name: Skill.objects.create(name=name) for name in names}
    for row in rows:
        staff[row["mailbox"]].skills.set(skills[name] for name in split_cell(row["skills"]))


def _write_teams(rows: list[Row], staff: Staff) -> None:
    """Save the teams; an asterisk after a team in a person's row marks its lead."""
    for name, description in TEAMS.items():
        team = Team.objects.create(
            name=name,
            description=description,
            archived_at=ARCHIVED_AT if name == ARCHIVED_TEAM else None,
        )
        for row in rows:
            entries = split_cell(row["teams"])
            if name in entries or f"{name}*" in entries:
                team.members.add(staff[row["mailbox"]])
            if f"{name}*" in entries:
                team.leads.add(staff[row["mailbox"]])


def _working_hours(row: Row, person: User) -> list[WorkingHours]:
    weekdays, stretches = WORKING_WEEKS[row["hours"]]
    return [
        WorkingHours(person=person, weekday=weekday, start_time=start, end_time=end)
        for weekday in weekdays
        for start, end in stretches
    ]


def _holidays(staff: Staff) -> list[TimeOff]:
    """Return a week off for every third person, one person a week."""
    first = date(2026, 6, 1)
    starts = [first + timedelta(weeks=week) for week in range(len(staff))]
    return [
        TimeOff(
            person=person,
            start_date=start,
            end_date=start + timedelta(days=4),
            kind=TimeOffKind.HOLIDAY,
        )
        for person, start in list(zip(staff.values(), starts, strict=True))[::3]
    ]
