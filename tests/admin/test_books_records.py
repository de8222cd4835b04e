"""Customers, teams and roles, as administrators change them."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission as PermissionRow
from django.db import IntegrityError

from invoicing.admin.records import CHANGED_MEANWHILE
from invoicing.models import Customer, Role, Team, User
from invoicing.services.record_changes import TAKEN_MEANWHILE, UNREADABLE
from tests.admin.forms import assert_saved, form_of, refused, save, shown_of, url_of
from tests.administration import acts_written, make_administrator
from tests.factories import TeamFactory, UserFactory, make_draft, make_issued
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db


def test_a_customer_is_added_with_its_account_managers(desk, delegate):
    answer = save(
        desk, Customer, name=" Nordwind  GmbH ", city="Kiel", account_managers=[str(delegate.pk)]
    )
    assert_saved(answer)
    customer = Customer.objects.get()
    assert (customer.name, customer.city, customer.is_active) == ("Nordwind  GmbH", "Kiel", True)
    assert list(customer.account_managers.all()) == [delegate]
    assert acts_written() == [("customer:created", str(customer.id), "")]


@pytest.mark.sqlite  # the form refuses it, on either database
@pytest.mark.parametrize("flags", [{"is_guest": True}, {"is_active": False}])
def test_nobody_who_has_left_or_is_a_guest_becomes_an_account_manager(desk, customer, flags):
    stranger = UserFactory.create(name="Gus Guest", **flags)
    assert "Gus Guest" not in main_of(desk.get(url_of(customer)))
    said = refused(lambda: save(desk, customer, account_managers=[str(stranger.pk)]))
    assert list(said) == ["account_managers"]


def test_a_renamed_customer_is_found_by_its_new_name_and_its_invoices_by_the_old(
    desk, connect, delegate, customer
):
    _, agent = connect(delegate)
    draft, issued = make_draft(customer=customer), make_issued(customer=customer)

    assert_saved(save(desk, customer, name="Zephyr AG"))

    def found(tool: str, search: str) -> list[str]:
        return [each["id"] for each in agent.call(tool, {"search": search}).data]

    assert found("customers.search", "zephyr") == [str(customer.id)]
    assert found("customers.search", "acme") == []
    assert found("documents.list", "zephyr") == [str(draft.id)]
    assert found("documents.list", "acme") == [str(issued.id)]
    assert acts_written()[-1] == ("customer:changed", str(customer.id), "name")


def test_an_inactive_customer_is_not_offered_any_more(desk, connect, delegate, customer):
    _, agent = connect(delegate)
    assert_saved(save(desk, customer, is_active=None))
    assert agent.call("customers.search").data == []


def test_an_account_manager_who_left_stays_until_taken_away(desk, customer):
    gone = UserFactory.create(name="Gone", is_active=False)
    customer.account_managers.add(gone)
    assert_saved(save(desk, customer, city="Ghent"))
    assert list(customer.account_managers.all()) == [gone]
    assert_saved(save(desk, customer, account_managers=[]))
    assert not customer.account_managers.exists()


def test_a_saved_customer_is_linked_for_those_only_who_still_see_it(sign_in, company):
    ada = make_administrator("add_customer", "change_customer", name="Ada")
    browser, seen = sign_in(ada), [str(ada.pk)]

    def told() -> str:
        [message] = browser.get("/admin/invoices/customer/").context["messages"]
        assert message.tags == "success"
        return str(message)

    assert_saved(save(browser, Customer, name="Nordwind", account_managers=seen))
    customer = Customer.objects.get()
    link = f'<a href="{url_of(customer)}">Nordwind</a>'
    assert told() == f"The customer “{link}” was added successfully."
    assert_saved(save(browser, customer, city="Kiel"))
    assert told() == f"The customer “{link}” was changed successfully."
    assert_saved(save(browser, customer, account_managers=[]))
    assert told() == "The customer “Nordwind” was changed successfully."
    assert_saved(save(browser, Customer, name="Zephyr"))
    assert told() == "The customer “Zephyr” was added successfully."


UNKNOWN = "01a1fb8b-efc0-71c1-99d2-a7735c6388ff"
UNSEEN = ["This field cannot be blank."]


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("name", "", None),
        ("name", "N" * 201, None),
        ("name", "N\0", None),
        *(("name", name, [UNREADABLE]) for name in ("N\x07", "N\x1b[31m", "two\nlines", "N\x85N")),
        *(("name", name, UNSEEN) for name in ("\u200b", "\u2800\u2060 ")),
        ("country", "UK", None),
        ("vat_number", "X" * 21, None),
        ("account_managers", ["not-an-id"], None),
        ("account_managers", [UNKNOWN], None),
    ],
    ids=range(13),
)
def test_a_customer_that_cannot_be_is_refused(desk, customer, field, typed, said):
    problems = refused(lambda: save(desk, customer, **{field: typed}))
    assert list(problems) == [field]
    assert said in (None, problems[field])


def test_a_country_is_chosen_by_its_name(desk, customer):
    page = main_of(desk.get(url_of(customer)))
    assert "Germany" in page
    assert_saved(save(desk, customer, country="DE"))
    assert Customer.objects.get().country == "DE"
    assert "Germany" in main_of(desk.get("/admin/invoices/customer/"))


def test_a_country_that_is_none_stays_until_another_is_chosen(desk, customer):
    Customer.objects.update(country="Q1")
    assert_saved(save(desk, customer, city="Ghent"))
    assert Customer.objects.get().country == "Q1"


def test_the_second_of_two_who_change_one_record_is_told(desk, customer):
    url = url_of(customer)
    first, second = form_of(desk.get(url)), form_of(desk.get(url))
    assert_saved(desk.post(url, first | {"city": "Antwerp"}))

    said = refused(lambda: desk.post(url, second | {"street": "Other Street 1"}))

    assert said == {"__all__": [str(CHANGED_MEANWHILE)]}
    assert Customer.objects.get().city == "Antwerp"


@pytest.mark.sqlite  # the form refuses it, on either database
@pytest.mark.parametrize("seen", ["", "0" * 64, "\u0661", "x" * 10_000])
def test_a_form_that_does_not_say_what_was_seen_is_refused(desk, customer, seen):
    assert refused(lambda: save(desk, customer, seen=seen, city="Antwerp")) == {
        "__all__": [str(CHANGED_MEANWHILE)]
    }


def test_a_change_that_the_database_refuses_is_said_in_the_form(desk, customer, monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise IntegrityError

    monkeypatch.setattr(Customer, "save", fail)
    assert refused(lambda: save(desk, customer, city="Antwerp")) == {
        "__all__": [str(TAKEN_MEANWHILE)]
    }


def test_a_team_is_added_archived_and_brought_back(desk, connect, delegate, colleague):
    _, agent = connect(delegate)
    members = [str(delegate.pk), str(colleague.pk)]
    assert_saved(save(desk, Team, name="Finance", leads=members[:1], members=members))
    team = Team.objects.get()
    assert [each["member_ids"] for each in agent.call("teams.list").data] == [sorted(members)]

    assert_saved(save(desk, team, is_archived="on"))
    assert agent.call("teams.list").data == []
    team.refresh_from_db()
    assert_saved(save(desk, team, description="Money"))
    assert Team.objects.get().archived_at == team.archived_at

    assert_saved(save(desk, team, is_archived=None))
    assert len(agent.call("teams.list").data) == 1
    assert [act[2] for act in acts_written()[-4:]] == [
        "",
        "archived_at",
        "description",
        "archived_at",
    ]


@pytest.mark.parametrize(
    ("archived_at", "alt"), [(datetime(2026, 1, 1, tzinfo=UTC), "True"), (None, "False")]
)
def test_who_may_only_see_a_team_sees_whether_it_is_archived(company, sign_in, archived_at, alt):
    team = TeamFactory.create(archived_at=archived_at)
    shown = shown_of(sign_in(make_administrator("view_team")).get(url_of(team)))
    assert f'alt="{alt}"' in shown["is_archived"]


def test_a_time_names_its_zone_where_pages_of_people_have_their_own(desk):
    TeamFactory.create(archived_at=datetime(2026, 12, 31, tzinfo=UTC))
    assert ">2026-12-31 00:00 UTC<" in main_of(desk.get("/admin/invoices/team/"))


def permission(codename: str) -> PermissionRow:
    return PermissionRow.objects.get(codename=codename, content_type__app_label="invoices")


def test_a_role_gives_and_takes_permissions_at_once(desk, connect, delegate, draft_body):
    person = UserFactory.create()
    manage = [permission(name) for name in ("manage", "view_all_customers")]
    assert_saved(save(desk, Role, name="Writer", permissions=[str(each.pk) for each in manage]))
    role = Role.objects.get()
    person.groups.add(role)
    connection, agent = connect(person)
    assert agent.call("drafts.create", draft_body, key="one").status == 201

    assert_saved(save(desk, role, permissions=[]))

    assert agent.call("drafts.create", draft_body, key="one").code == "forbidden"
    connection.refresh_from_db()
    assert connection.revoked_at is None
    assert acts_written()[-1] == ("role:changed", str(role.pk), "permissions")


def test_a_permission_without_words_is_neither_shown_nor_taken_away_nor_given(desk):
    role = Role.objects.create(name="Old")
    unsaid = PermissionRow.objects.get(codename="add_session")
    role.permissions.add(unsaid, permission("manage"))
    page = main_of(desk.get(url_of(role)))
    assert ("Create and change drafts" in page, "session" in page) == (True, False)
    assert_saved(save(desk, role, name="New", permissions=[]))
    assert list(role.permissions.all()) == [unsaid]
    other = Role.objects.create(name="Other")
    said = refused(lambda: save(desk, other, permissions=[str(unsaid.pk)]))
    assert list(said) == ["permissions"]


def test_two_roles_have_two_names(desk):
    Role.objects.create(name="Viewer")
    assert list(refused(lambda: save(desk, Role, name="Viewer"))) == ["name"]


def test_a_team_may_have_thousands_of_members(desk):
    people = User.objects.bulk_create(UserFactory.build_batch(1_001))
    assert_saved(save(desk, Team, name="All of us", members=[str(each.pk) for each in people]))
    assert Team.objects.get().members.count() == 1_001
