"""Thirty people, with roles, teams, skills, working hours and private data."""

from collections.abc import Mapping
from datetime import date, timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.contrib.auth.models import Permission as PermissionRow
from django.utils import timezone

from invoicing.models import Skill, Team, TimeOff, TimeOffKind, User, WorkingHours
from invoicing.sample_company.tables import COMPANY, Row, read_table, split_cell

DOMAIN = "halden.example"

Staff = Mapping[str, User]


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
        time_zone_chosen_at=timezone.now(),
        is_active=row["status"] != "deactivated",
        is_guest=row["status"] == "guest",
        private_email=f"{mailbox}@home.{DOMAIN}",
        private_phone=f"+49 30 23125 {100 + number}",  # numbers reserved for fiction
        hourly_rate=3200 + 150 * number,
    )


def _write_roles(rows: list[Row], staff: Staff) -> None:
    for role, codenames in COMPANY["roles"].items():
        group, _ = Group.objects.get_or_create(name=role)
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
    for facts in COMPANY["teams"]:
        team = Team.objects.create(**facts)
        for row in rows:
            entries = split_cell(row["teams"])
            if team.name in entries or f"{team.name}*" in entries:
                team.members.add(staff[row["mailbox"]])
            if f"{team.name}*" in entries:
                team.leads.add(staff[row["mailbox"]])


def _working_hours(row: Row, person: User) -> list[WorkingHours]:
    week = COMPANY["working_weeks"][row["hours"]]
    return [
        WorkingHours(person=person, weekday=weekday, start_time=start, end_time=end)
        for weekday in week["weekdays"]
        for start, end in week["stretches"]
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
