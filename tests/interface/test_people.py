"""What people and teams say, and who is not named."""

import re
from datetime import UTC, datetime, time
from typing import Any
from uuid import uuid4

import pytest

from invoicing.agent_host import SCOPES
from invoicing.agent_tools.shapes import PersonWithHours
from invoicing.models import Skill, User, WorkingHours
from tests.factories import TeamFactory, UserFactory
from tests.interface.calls import walk
from tests.interface.refusals import invalid, refusal, seen

ARCHIVED_AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def manager(company):
    return UserFactory.create(name="Mona Manager")


@pytest.fixture
def guest(company):
    return UserFactory.create(name="Gwen Guest", is_guest=True)


@pytest.fixture
def leaver(company):
    return UserFactory.create(name="Ivan Inactive", is_active=False)


@pytest.fixture
def person(manager):
    skills = [Skill.objects.create(name=name) for name in ("Welding", "Law")]
    return UserFactory.create(
        name="Paula Person",
        email="paula@halden.example",
        job_title="Fitter",
        time_zone="Europe/Oslo",
        manager=manager,
        skills=skills,
    )


def fields_of(person, **fields: Any):
    return {
        "id": str(person.id),
        "name": person.name,
        "work_email": person.email,
        "job_title": None,
        "skills": [],
        "team_ids": [],
        "manager_id": None,
        "time_zone": "UTC",
        **fields,
    }


def ids(answer):
    assert answer.body["next"] is None
    return [record["id"] for record in answer.data]


@pytest.mark.requirement("person.active_staff", "person.fields", "tool.people_list")
@pytest.mark.usefixtures("guest", "leaver")
def test_the_list_gives_the_active_staff_only(agent, owner, delegate, person):
    manager, guest = person.manager, User.objects.get(is_guest=True)
    team = TeamFactory.create(members=[person, guest])
    archived = TeamFactory.create(members=[person], archived_at=ARCHIVED_AT)

    answer = agent.call("people.list")

    assert answer.status == 200
    assert answer.body["next"] is None
    expected = {
        owner.id: fields_of(owner),
        delegate.id: fields_of(delegate),
        manager.id: fields_of(manager),
        person.id: fields_of(
            person,
            job_title="Fitter",
            skills=["Law", "Welding"],
            team_ids=[str(team.id)],
            manager_id=str(manager.id),
            time_zone="Europe/Oslo",
        ),
    }
    assert answer.data == [expected[pk] for pk in sorted(expected)]
    assert list(answer.data[0]) == list(fields_of(owner))
    assert str(archived.id) not in answer.content.decode()


@pytest.mark.requirement("person.working_hours", "tool.people_get")
def test_one_person_is_read_with_the_hours_of_the_week(agent, manager, person):
    for weekday, start, end in ((4, 8, 12), (0, 13, 17), (0, 8, 12), (6, 22, 23)):
        WorkingHours.objects.create(
            person=person, weekday=weekday, start_time=time(start, 30), end_time=time(end)
        )
    answer = agent.call("people.get", id=person.id)
    assert answer.status == 200
    assert answer.body == {
        "data": fields_of(
            person,
            job_title="Fitter",
            skills=["Law", "Welding"],
            manager_id=str(manager.id),
            time_zone="Europe/Oslo",
        )
        | {
            "weekly_working_hours": {
                "monday": [{"start": "08:30", "end": "12:00"}, {"start": "13:30", "end": "17:00"}],
                "tuesday": [],
                "wednesday": [],
                "thursday": [],
                "friday": [{"start": "08:30", "end": "12:00"}],
                "saturday": [],
                "sunday": [{"start": "22:30", "end": "23:00"}],
            }
        }
    }
    days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    assert list(answer.data["weekly_working_hours"]) == days


def test_the_owner_reads_of_every_fact_that_the_scope_lends():
    told = SCOPES["people:read"].description.replace("e-mail", "email")
    facts = [re.sub("_ids?$", "", name) for name in PersonWithHours.__annotations__ if name != "id"]
    words = [fact.removeprefix("weekly_").replace("_", " ") for fact in facts]
    assert [word for word in words if word not in told] == []


def test_a_guest_and_an_inactive_person_are_not_read(agent, guest, leaver):
    missing = agent.call("people.get", id=uuid4())
    assert seen(missing) == refusal("not_found")
    for person in (guest, leaver):
        assert agent.call("people.get", id=person.id).content == missing.content


@pytest.mark.parametrize("flags", [{"is_active": False}, {"is_guest": True}])
def test_a_manager_who_is_not_listed_is_not_named(agent, person, manager, flags):
    User.objects.filter(pk=manager.pk).update(**flags)
    assert agent.call("people.get", id=person.id).data["manager_id"] is None
    (listed,) = agent.call("people.list", {"search": "paula"}).data
    assert listed["manager_id"] is None


@pytest.mark.requirement("team.live", "team.fields", "tool.teams_list")
def test_teams_name_their_active_leads_and_members_only(
    agent, person, manager, delegate, guest, leaver
):
    team = TeamFactory.create(
        name="Service",
        description="Repairs",
        leads=[manager, leaver],
        members=[person, delegate, guest, leaver],
    )
    empty = TeamFactory.create(name="Empty", leads=[guest], members=[leaver])
    TeamFactory.create(name="Gone", members=[person], archived_at=ARCHIVED_AT)

    assert agent.call("teams.list").body == {
        "data": [
            {
                "id": str(team.id),
                "name": "Service",
                "description": "Repairs",
                "lead_ids": [str(manager.id)],
                "member_ids": sorted(str(member.id) for member in (person, delegate)),
            },
            {
                "id": str(empty.id),
                "name": "Empty",
                "description": None,
                "lead_ids": [],
                "member_ids": [],
            },
        ],
        "next": None,
    }


def test_a_team_filter_gives_its_listed_members(agent, person, delegate, manager, guest, leaver):
    members = [person, delegate, guest, leaver]
    team = TeamFactory.create(leads=[manager], members=members)
    TeamFactory.create(members=[manager])

    expected = sorted(str(member.id) for member in (person, delegate))
    assert ids(agent.call("people.list", {"team_id": str(team.id)})) == expected
    filtered = {"team_id": str(team.id), "search": "paula"}
    assert ids(agent.call("people.list", filtered)) == [str(person.id)]
    assert ids(agent.call("people.list", {"team_id": str(team.id), "search": "mona"})) == []


def test_a_filtered_list_is_walked_like_any_other(agent):
    members = UserFactory.create_batch(5)
    team = TeamFactory.create(members=members)
    pages = walk(agent, "people.list", team_id=str(team.id), limit=2)
    assert [id_ for page in pages for id_ in page] == [str(member.id) for member in members]


def test_an_unknown_and_an_archived_team_have_no_people(agent, person):
    archived = TeamFactory.create(members=[person], archived_at=ARCHIVED_AT)
    for team_id in (archived.id, uuid4()):
        answer = agent.call("people.list", {"team_id": str(team_id)})
        assert answer.body == {"data": [], "next": None}


def test_a_malformed_team_is_named(agent):
    for team_id in ("x", " ", f"urn:uuid:{uuid4()}", uuid4().hex):
        answer = agent.call("people.list", {"team_id": team_id})
        assert seen(answer) == invalid(("team_id", "must be the ID of a record")), team_id


def test_only_the_list_of_people_takes_a_team(agent):
    answer = agent.call("teams.list", {"team_id": str(uuid4())})
    assert seen(answer) == invalid(("team_id", "is not a field of this tool"))
