"""People in the administration: forms, one-time links, signing out everywhere."""

import re
from datetime import date, time, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from agent_access.models import AuditEvent
from invoicing.access import Permission
from invoicing.admin.fields import MISTYPED_HOURS
from invoicing.admin.person_forms import NEGATIVE_RATE
from invoicing.admin.records import CHANGED_MEANWHILE
from invoicing.administration.one_time_codes import find_by_code
from invoicing.administration.people import OWN_MANAGER
from invoicing.administration.preferences import UNKNOWN_ZONE
from invoicing.models import Role, User
from invoicing.services.working_hours import OVERLAP, Stretch, read_hours, write_hours
from tests.admin.forms import (
    assert_saved,
    form_of,
    problems_of,
    refused,
    save_at,
    shown_of,
    snapshot_of_books,
)
from tests.administration import acts_written, make_administrator, read
from tests.approvals import prepare
from tests.factories import UserFactory, grant, make_auditor
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

ADD = "/admin/invoices/user/add/"


def url_of(person: User, page: str = "invoices_user_change") -> str:
    return reverse(f"admin:{page}", args=[person.pk])


@pytest.fixture
def ada(company) -> User:
    """An administrator of people who may give no rights."""
    return make_administrator("view_user", "add_user", "change_user", name="Ada Admin")


@pytest.fixture
def person(company) -> User:
    return UserFactory.create(name="Paul Plain")


@pytest.fixture
def desk(sign_in, ada):
    return sign_in(ada)


def rights_of(person: User) -> tuple[bool, bool, list[int]]:
    held = read(person)
    return held.is_staff, held.is_superuser, [role.pk for role in held.groups.all()]


@pytest.mark.sqlite  # the form refuses it, on either database
@pytest.mark.sqlite  # the form refuses it, on either database
@pytest.mark.parametrize("chosen", ["x", "0", "9" * 20])
def test_a_right_that_is_not_offered_is_refused(sign_in, superuser, person, chosen):
    desk = sign_in(superuser)
    wrong = {"groups": [chosen], "user_permissions": [chosen]}
    said = refused(lambda: save_at(desk, url_of(person), **wrong))
    assert list(said) == ["groups", "user_permissions"]


def test_the_list_tells_who_is_what(desk, superuser, person):
    UserFactory.create(name="Gus Guest", is_guest=True)
    make_auditor(date(2026, 3, 2), name="Ute Until")
    UserFactory.create(name="Ina Inactive", is_active=False, is_guest=True)
    UserFactory.create(name="Sid Seldom", is_superuser=True)
    page = main_of(desk.get(reverse("admin:invoices_user_changelist")))
    rows = {row.split("</tr>")[0] for row in page.split("<tr")}
    standings = {
        "Ada Admin": "administrator",
        "Sue Super": "superuser",
        "Sid Seldom": "active",
        "Paul Plain": "active",
        "Gus Guest": "guest",
        "Ute Until": "auditor until March 2, 2026",
        "Ina Inactive": "deactivated",
    }
    for name, standing in standings.items():
        [row] = [each for each in rows if name in each]
        assert f">{standing}</" in row, name


def test_the_list_offers_the_roles_by_name_and_shows_the_people_of_one(desk, person):
    buyer, _, _ = [Role.objects.create(name=name) for name in ("Buyer", "Author", "Clerk")]
    person.groups.add(buyer)
    everybody = reverse("admin:invoices_user_changelist")
    offered = re.findall(r'"\?groups__id__exact=\d+"> ?(\w+)', main_of(desk.get(everybody)))
    assert offered == ["Author", "Buyer", "Clerk"]
    shown = desk.get(f"{everybody}?groups__id__exact={buyer.pk}").context["cl"].result_list
    assert [each.name for each in shown] == ["Paul Plain"]


def test_the_owner_makes_an_auditor_on_the_page_of_a_person(sign_in, owner, person):
    desk, page = sign_in(owner), url_of(person)
    tomorrow = timezone.now().date() + timedelta(days=1)
    assert_saved(save_at(desk, page, is_guest="on", audits_until=str(tomorrow)))
    assert (read(person).audits_until, rights_held(person)) == (tomorrow, ["audit"])
    shown = form_of(desk.get(page))
    assert shown["audits_until"] == str(tomorrow)
    assert_saved(save_at(desk, page, audits_until=""))
    assert (read(person).audits_until, rights_held(person)) == (None, [])


def rights_held(person: User) -> list[str]:
    return list(read(person).user_permissions.values_list("codename", flat=True))


def test_an_administrator_sees_until_when_an_auditor_reads_and_cannot_change_it(desk):
    auditor = make_auditor(date(2026, 3, 2))
    page = desk.get(url_of(auditor))
    assert "audits_until" not in form_of(page)
    assert "March 2, 2026" in main_of(page)
    save_at(desk, url_of(auditor), audits_until="2099-01-01")
    assert read(auditor).audits_until == date(2026, 3, 2)


def test_a_manager_who_left_stays_but_nobody_else_is_given_them(desk, person):
    left = UserFactory.create(name="Lea Left", is_active=False)
    option = f'<option value="{left.pk}"'
    assert option not in main_of(desk.get(url_of(person)))
    User.objects.filter(pk=person.pk).update(manager=left)
    assert f"{option} selected>" in main_of(desk.get(url_of(person)))


def test_a_person_is_added_and_given_a_link(desk, person):
    fields = {
        "name": "Nora New",
        "email": "Nora@Halden.example",
        "monday": "9:00 to 12:30, 12:30-17:30",
        "sunday": "8:00\u201312:00",
        "time_zone": "Europe/Berlin",
        "manager": str(person.pk),
    }
    assert save_at(desk, ADD, **fields).status_code == 302
    nora = User.objects.get(name="Nora New")
    assert (nora.email, nora.manager, nora.is_active) == ("nora@halden.example", person, True)
    hours = [f"{day} {start:%H:%M} {end:%H:%M}" for day, start, end in read_hours(nora)]
    assert hours == ["0 09:00 12:30", "0 12:30 17:30", "6 08:00 12:00"]
    assert not nora.has_usable_password()
    assert acts_written() == [("person:created", str(nora.id), "")]

    page = main_of(desk.post(url_of(nora, "one-time-link")))
    code = page.partition("set-password#")[2].partition('"')[0]
    assert find_by_code(code) == nora


def test_an_address_fills_in_nothing(sign_in, superuser):
    page = sign_in(superuser).get(
        f"{ADD}?is_superuser=1&email=eve%40halden.example&time_zone=Asia/Tokyo"
    )
    shown = form_of(page)
    assert (shown.get("is_superuser"), shown["email"], shown["time_zone"]) == (None, "", "UTC")


def test_hours_that_were_written_shortly_are_saved_as_the_form_shows_them(desk, person):
    hours = ",".join(f"{hour}:00-{hour}:30" for hour in range(10))
    assert save_at(desk, url_of(person), monday=hours).status_code == 302
    assert len(read_hours(person)) == 10
    before = snapshot_of_books(), acts_written()
    assert save_at(desk, url_of(person)).status_code == 302
    assert (snapshot_of_books(), acts_written()) == before


def test_a_day_has_no_more_stretches_than_its_form_says(desk, person):
    hours = ",".join(f"{hour}:00-{hour}:30" for hour in range(11))
    said = refused(lambda: save_at(desk, url_of(person), monday=hours))
    assert said == {"monday": ["A day has at most 10 periods."]}


def test_the_form_of_a_new_person_says_how_they_come_by_a_password(desk):
    assert "A new person has no password: a one-time link" in main_of(desk.get(ADD))


def test_a_form_sent_as_it_is_changes_nothing(desk, person, sign_in, owner):
    grant(person, Permission.VIEW_DOCUMENT)
    person.groups.add(Role.objects.create(name="Viewer"))
    write_hours(person, [Stretch(4, time(9), time(12, 30)), Stretch(4, time(13), time(17))])
    assert 'value="09:00 to 12:30, 13:00 to 17:00"' in main_of(desk.get(url_of(person)))
    for browser in (desk, sign_in(owner)):
        before = snapshot_of_books()
        assert save_at(browser, url_of(person)).status_code == 302
        assert (snapshot_of_books(), acts_written()) == (before, [])


def test_who_may_only_see_a_person_sees_the_working_hours(sign_in, person):
    write_hours(person, [Stretch(4, time(9), time(12, 30)), Stretch(4, time(13), time(17))])
    shown = shown_of(sign_in(make_administrator("view_user")).get(url_of(person)))
    assert (shown["thursday"], shown["friday"]) == ("", "09:00 to 12:30, 13:00 to 17:00")


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"name": ""}, {"name": ["This field is required."]}),
        ({"name": "N" * 201}, {"name": None}),
        ({"email": "x"}, {"email": ["Enter a valid email address."]}),
        ({"email": "OLIVIA@halden.example"}, {"email": None}),
        ({"time_zone": "Mars/Olympus"}, {"time_zone": [UNKNOWN_ZONE]}),
        ({"time_zone": "Factory"}, {"time_zone": [UNKNOWN_ZONE]}),
        ({"time_zone": ""}, {"time_zone": ["This field is required."]}),
        ({"monday": "morning"}, {"monday": [MISTYPED_HOURS]}),
        ({"monday": "25:00 to 26:00"}, {"monday": [MISTYPED_HOURS]}),
        ({"monday": "12:00 to 9:00"}, {"__all__": [OVERLAP]}),
        ({"monday": "9:00 to 9:00"}, {"__all__": [OVERLAP]}),
        ({"monday": "9:00 to 12:00, 11:00 to 13:00"}, {"__all__": [OVERLAP]}),
        ({"job_title": "J\0"}, {"job_title": None}),
        ({"hourly_rate": "9" * 19}, {"hourly_rate": None}),
        ({"hourly_rate": "-1"}, {"hourly_rate": [NEGATIVE_RATE]}),
        ({"seen": "x"}, {"__all__": [str(CHANGED_MEANWHILE)]}),
    ],
    ids=range(16),
)
def test_what_cannot_be_is_said_in_the_form(desk, person, fields, problems):
    said = refused(lambda: save_at(desk, url_of(person), **fields))
    assert list(said) == list(problems)
    assert all(problem in (None, said[name]) for name, problem in problems.items())


@pytest.mark.sqlite  # the form refuses it, on either database
@pytest.mark.parametrize("is_managed", [False, True], ids=["themselves", "whom they manage"])
def test_nobody_is_made_their_own_manager(desk, person, is_managed):
    manager = UserFactory.create(manager=person) if is_managed else person
    said = refused(lambda: save_at(desk, url_of(person), manager=str(manager.pk)))
    assert said == {"manager": [str(OWN_MANAGER)]}


def test_an_administrator_sees_rights_and_cannot_send_them(desk, person, ada):
    Role.objects.create(name="Chief")
    page = main_of(desk.get(url_of(person)))
    assert "Only superusers and the owner give permissions." in page
    assert 'name="is_staff"' not in page
    role = str(Role.objects.get().pk)
    forged = {"is_staff": "on", "is_superuser": "on", "groups": [role]}
    for target in (person, ada):
        before = rights_of(target)
        assert save_at(desk, url_of(target), **forged).status_code == 302
        assert rights_of(target) == before
    added = {"name": "New", "email": "new@halden.example", "time_zone": "UTC", **forged}
    assert save_at(desk, ADD, **added).status_code == 302
    assert rights_of(User.objects.get(name="New")) == (False, False, [])


@pytest.mark.parametrize("name", ["owner", "superuser"])
def test_an_administrator_cannot_send_the_sign_in_of_somebody_above(request, desk, name):
    above = request.getfixturevalue(name)
    before = snapshot_of_books()
    forged = {"email": "mine@halden.example", "is_active": None, "is_guest": "on"}
    assert save_at(desk, url_of(above), **forged).status_code == 302
    assert snapshot_of_books() == before
    for page in ("one-time-link", "sign-person-out"):
        assert url_of(above, page) not in main_of(desk.get(url_of(above)))
        assert desk.get(url_of(above, page)).status_code == 403
        assert desk.post(url_of(above, page)).status_code == 403
    assert snapshot_of_books() == before


def test_the_owner_and_superusers_give_rights_with_the_form(sign_in, owner, superuser, person):
    role = Role.objects.create(name="Viewer")
    for head in (owner, superuser):
        desk = sign_in(head)
        given = {"groups": [str(role.pk)], "is_staff": "on", "is_superuser": "on"}
        assert save_at(desk, url_of(person), **given).status_code == 302
        assert rights_of(person) == (True, True, [role.pk])
        taken: dict[str, Any] = {"groups": [], "is_staff": None, "is_superuser": None}
        assert save_at(desk, url_of(person), **taken).status_code == 302
        assert rights_of(person) == (False, False, [])


def test_not_even_the_owner_can_send_themselves_away(sign_in, owner):
    desk = sign_in(owner)
    assert save_at(desk, url_of(owner), is_active=None, is_guest="on").status_code == 302
    held = read(owner)
    assert (held.is_active, held.is_guest) == (True, False)


def test_a_superuser_sees_the_owners_flags_and_cannot_send_them(sign_in, owner, superuser):
    desk = sign_in(superuser)
    before = snapshot_of_books()
    forged = {"is_staff": "on", "is_superuser": "on", "email": "x@halden.example"}
    assert save_at(desk, url_of(owner), **forged).status_code == 302
    assert snapshot_of_books() == before


@pytest.mark.parametrize("change", [{"is_guest": "on"}, {"monday": "9:00 to 17:00"}], ids=str)
def test_the_second_of_two_administrators_is_told(desk, sign_in, owner, person, change):
    other = sign_in(owner)
    first, second = form_of(other.get(url_of(person))), form_of(desk.get(url_of(person)))
    assert other.post(url_of(person), first | change).status_code == 302
    before = snapshot_of_books()
    answer = desk.post(url_of(person), second | {"name": "Other"})
    assert problems_of(answer) == {"__all__": [str(CHANGED_MEANWHILE)]}
    assert snapshot_of_books() == before


# One-time links


def test_a_link_is_shown_once_and_kept_nowhere(desk, person, ada):
    asked = desk.get(url_of(person, "one-time-link"))
    assert "set-password#" not in main_of(asked)
    assert acts_written() == []

    answer = desk.post(url_of(person, "one-time-link"))

    page = main_of(answer)
    code = page.partition("https://invoices.example/set-password#")[2].partition('"')[0]
    assert find_by_code(code) == person
    assert answer["Cache-Control"] == "no-store"
    assert code not in str(snapshot_of_books())
    assert code not in main_of(desk.get(url_of(person, "one-time-link")))
    [event] = AuditEvent.objects.values_list("action", "actor_id", "target", "client_address")
    assert event == ("person:code_made", ada.id, str(person.id), "127.0.0.1")


def test_an_inactive_person_gets_no_link(desk, person):
    User.objects.filter(pk=person.pk).update(is_active=False)
    url = url_of(person, "one-time-link")
    assert url not in main_of(desk.get(url_of(person)))
    for answer, status in ((desk.get(url), 200), (desk.post(url), 409)):
        assert answer.status_code == status
        assert "Paul Plain is deactivated and cannot sign in" in main_of(answer)
        assert "Create the link" not in main_of(answer)
    assert acts_written() == []


@pytest.mark.parametrize("page", ["one-time-link", "sign-person-out"])
def test_nobody_is_found_under_an_unknown_id(desk, customer, page):
    url = reverse(f"admin:{page}", args=[customer.pk])
    assert (desk.get(url).status_code, desk.post(url).status_code) == (404, 404)


def test_the_owner_may_make_a_link_for_themselves(sign_in, owner):
    page = main_of(sign_in(owner).post(url_of(owner, "one-time-link")))
    assert "set-password#" in page


# Signing out everywhere


def test_signing_a_person_out_says_first_what_it_ends(desk, sign_in, person, connect, colleague):
    _, agent = connect(person)
    connect(person)
    _, agent_of_another = connect(colleague)
    browser = sign_in(person)
    asked = main_of(desk.get(url_of(person, "sign-person-out")))
    assert "2 connections of agents that act as them" in asked
    assert agent.call("tools.list").status == 200

    answer = desk.post(url_of(person, "sign-person-out"), follow=True)

    assert "Connections ended: 2." in main_of(answer)
    assert agent.call("tools.list").status == 401
    assert agent_of_another.call("tools.list").status == 200
    assert browser.get("/account").status_code == 302
    assert acts_written()[-1] == ("person:signed_out", str(person.id), "")


def test_who_left_is_named_nowhere_once_their_own_record_is_overwritten(
    sign_in, superuser, delegate, draft, agent, draft_body
):
    told = {"name": "Dana Delegate", "email": "dana@halden.example", "private_phone": "+49 40 99"}
    User.objects.filter(pk=delegate.pk).update(**told)
    assert agent.call("drafts.create", draft_body, key="one").status == 201
    prepared = prepare(draft, user=delegate)
    prepared.decide()
    prepared.execute()
    sign_in(delegate).get("/account")
    overwritten = {
        "name": "Former colleague 7",
        "email": "former-7@halden.example",
        "private_phone": "",
        "is_active": None,
    }
    assert_saved(save_at(sign_in(superuser), url_of(delegate), **overwritten))
    kept = repr([take_snapshot(), list(AuditEvent.objects.values())])
    assert "Former colleague 7" in kept
    assert [fact for fact in told.values() if fact in kept] == []
