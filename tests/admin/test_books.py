"""The books in the administration: who opens what, and what nobody may do there."""

import re
from functools import cache, partial

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.contrib.auth.models import Permission as PermissionRow
from django.urls import NoReverseMatch, reverse

from agent_access.models import AuditEvent
from invoicing.access import Permission
from invoicing.admin.permission_words import ADMINISTRATION, WORDS
from invoicing.models import (
    Company,
    Customer,
    DatevSettings,
    NumberSeries,
    Role,
    Skill,
    TaxRate,
    Team,
    User,
)
from tests.admin.books import BOOKS, OWNERS_PAGES, PERSON_PAGES, SINGLE
from tests.admin.forms import form_of
from tests.administration import make_administrator
from tests.factories import CustomerFactory, TaxRateFactory, TeamFactory, UserFactory, make_issued
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db
# Who may open which page, and do what there: no database decides that.
once = pytest.mark.sqlite

ADDABLE = (Customer, Role, Skill, TaxRate, Team, User)

# What a superuser opens; of the rest, who opens it with which permission.
OPENERS = {
    "company": "view_company",
    "customer": "view_customer",
    "datevsettings": "view_datevsettings",
    "numberseries": "view_numberseries",
    "skill": "change_skill",
    "taxrate": "view_taxrate",
    "team": "view_team",
    "user": "view_user",
}


@pytest.fixture
def books(company):
    """One record of each, at least."""
    CustomerFactory.create(account_managers=[company.owner])
    TaxRateFactory.create()
    TeamFactory.create(members=[company.owner])
    make_issued()
    DatevSettings.objects.create(adviser=1001, client=1)
    Skill.objects.create(name="Typing")
    Role.objects.create(name="Viewer")


def name_of(model) -> str:
    return str(model._meta.model_name)


def url_of(model, page="changelist", *args: object) -> str:
    return reverse(f"admin:invoices_{name_of(model)}_{page}", args=args)


def pages_of(model) -> list[str]:
    """Return every page of a book, of one of its records where it is of one."""
    record = model.objects.first()
    urls = [url_of(model), url_of(model, "change", record.pk)]
    if model is User:
        urls += [reverse(f"admin:{name}", args=[record.pk]) for name in PERSON_PAGES]
    if model is Company:
        urls += [reverse(f"admin:{name}") for name in OWNERS_PAGES]
    if model is TaxRate:
        urls.append(reverse("admin:tax-meanings"))
    return [*urls, url_of(model, "add")]


def test_every_page_of_the_books_is_known_to_these_tests():
    found = {
        str(url.name)
        for model in BOOKS
        for url in admin.site.get_model_admin(model).urls
        if url.name
    }
    actions = {
        f"invoices_{name_of(model)}_{page}"
        for model in BOOKS
        for page in ("changelist", "add", "change")
    }
    assert found == actions | {*PERSON_PAGES, *OWNERS_PAGES, "passkey-rule-options", "tax-meanings"}
    ours = {model for model in admin.site._registry if model._meta.app_label == "invoices"}
    assert (ours, admin.site.is_registered(Group)) == (set(BOOKS), False)


@once
@pytest.mark.parametrize("name", ["superuser", "owner"])
def test_the_owner_and_superusers_open_every_book(request, books, sign_in, owner, name):
    browser = sign_in(request.getfixturevalue(name))
    for model in BOOKS:
        statuses = [browser.get(url).status_code for url in pages_of(model)[:2]]
        assert statuses == [302 if model in SINGLE else 200, 200], model
        added = browser.get(url_of(model, "add"))
        assert added.status_code == (200 if model in ADDABLE else 403), model


@once
@pytest.mark.parametrize("permission", ADMINISTRATION)
def test_no_page_links_to_one_that_this_administrator_may_not_open(books, sign_in, permission):
    """Each permission alone; Django's own templates link to more."""
    browser = sign_in(make_administrator(permission.removeprefix("invoices.")))
    visit = cache(partial(browser.get, follow=True))
    pages = {url: visit(url) for model in BOOKS for url in pages_of(model)}
    own = {url: page for url, page in pages.items() if page.status_code == 200}
    assert own
    for url, page in own.items():
        for link in re.findall(r'href="(/[^"?]*)', main_of(page)):
            assert visit(link).status_code == 200, (url, link)


@once
@pytest.mark.parametrize("name", ["nobody", "delegate", "guest", "administrator"])
def test_nobody_else_opens_a_page_without_its_permission(request, books, sign_in, name):
    """The administrator has every permission of the application, which opens customers alone."""
    browser = sign_in(request.getfixturevalue(name)) if name != "nobody" else None
    browser = browser or request.getfixturevalue("browser")
    opened = pages_of(Customer) if name == "administrator" else []
    before, events = take_snapshot(), AuditEvent.objects.count()
    assert {browser.get(url).status_code for url in opened} <= {200}
    for url in {url for model in BOOKS for url in pages_of(model)} - {*opened}:
        expected = {302} if name == "nobody" else {403, 404}
        assert browser.get(url).status_code in expected, url
        browser.post(url, {"name": "Other", "_save": ""})
    after = take_snapshot()
    sessions = {"sessions.Session"}
    assert {name for name in before if before[name] != after[name]} <= sessions
    assert AuditEvent.objects.count() == events


@once
@pytest.mark.parametrize("model", OPENERS)
def test_one_permission_opens_one_book(books, sign_in, model):
    permissions = [OPENERS[model], "view_all_customers"]
    browser = sign_in(make_administrator(*permissions))
    opened = [
        name_of(each) for each in BOOKS if browser.get(url_of(each)).status_code in {200, 302}
    ]
    assert opened == [model]
    assert [each for each in BOOKS if url_of(each) in browser.get("/admin/").content.decode()] == [
        each for each in BOOKS if name_of(each) == model
    ]


@once
def test_a_page_to_look_at_has_no_way_to_save(books, sign_in):
    viewer = make_administrator(*OPENERS.values(), "view_all_customers")
    viewer.user_permissions.remove(*viewer.user_permissions.filter(codename="change_skill"))
    browser = sign_in(viewer)
    for model in (Company, Customer, DatevSettings, NumberSeries, TaxRate, Team, User):
        record = model.objects.first()
        assert record is not None
        url = url_of(model, "change", record.pk)
        page = main_of(browser.get(url))
        assert 'name="_save"' not in page, model
        assert browser.post(url, {"name": "Other"}).status_code == 403


@once
@pytest.mark.parametrize("model", BOOKS, ids=name_of)
def test_nothing_is_deleted_and_no_history_shown(books, desk, model):
    with pytest.raises(NoReverseMatch):
        url_of(model, "delete", model.objects.first().pk)
    pk = model.objects.first().pk
    before = take_snapshot()
    for page in ("delete", "history"):
        desk.post(f"{url_of(model)}{pk}/{page}/", {"post": "yes"})
    desk.post(url_of(model), {"action": "delete_selected", "_selected_action": pk, "post": "y"})
    assert take_snapshot() == before
    assert "delete_selected" not in desk.get(url_of(model), follow=True).content.decode()


@once
@pytest.mark.parametrize("model", BOOKS, ids=name_of)
def test_looking_changes_nothing(books, desk, model):
    before, events = take_snapshot(), AuditEvent.objects.count()
    for url in pages_of(model):
        desk.get(url)
        desk.head(url)
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


def test_out_of_a_search_a_button_leads_back_to_all(books, desk):
    button = '<a class="button" href="?">Show all</a>'
    assert button in main_of(desk.get(f"{url_of(Customer)}?q=nobody"))
    assert button not in main_of(desk.get(url_of(Customer)))


@once
def test_a_long_list_stands_on_pages_alone(sign_in, owner):
    CustomerFactory.create_batch(51)
    browser = sign_in(owner)
    for query in ("", "?all="):
        page = main_of(browser.get(url_of(Customer) + query))
        rows = page.count('data-label="Name"')
        assert (rows, "p=2" in page, "Show all" in page) == (50, True, False)


@pytest.mark.parametrize("model", BOOKS, ids=name_of)
def test_hostile_addresses_are_no_bug(books, desk, model):
    for tail in ("%00/change/", "x" * 500 + "/change/", "0/change/", "..%2f/change/"):
        assert desk.get(url_of(model) + tail).status_code == 404
    for query in (
        "q=%00",
        "q=" + "x" * 60_000,
        "q=" + "x+" * 1_100,
        "p=%00",
        "o=%00",
        "p=-1",
        "p=99999999999",
        "is_active__exact=%00",
        "is_active__range=",
        "is_active__regex=(",
        "groups__exact=" + "9" * 20,
        "_to_field=password",
        "e=1",
        "id__exact=%00",
        "password__startswith=p",
    ):
        assert desk.get(f"{url_of(model)}?{query}").status_code in {200, 302, 400}, query


@pytest.mark.parametrize("model", BOOKS, ids=name_of)
def test_a_record_is_found_by_its_key_alone(books, desk, model):
    page = url_of(model, "change", model.objects.order_by("pk")[0].pk)
    expected = {"": 200, "id": 200, "password": 400}
    found = {name: desk.get(f"{page}?_to_field={name}").status_code for name in expected}
    assert found == expected


@pytest.mark.parametrize(
    "lookup", ["password__startswith", "private_email__contains", "session_revision", "last_login"]
)
def test_a_list_answers_no_guess_about_what_it_does_not_show(books, desk, lookup):
    assert desk.get(f"{url_of(User)}?is_staff__exact=1").status_code == 200
    assert desk.get(f"{url_of(User)}?{lookup}=1").status_code == 400
    assert desk.get(f"{url_of(User)}?manager__{lookup}=1").status_code == 400


def test_the_administration_keeps_no_second_log(books, desk):
    url = url_of(Skill, "change", Skill.objects.get().pk)
    assert desk.post(url, form_of(desk.get(url)) | {"name": "Singing"}).status_code == 302
    assert Skill.objects.get().name == "Singing"
    assert not LogEntry.objects.exists()


def test_administrators_see_the_customers_of_their_scope(sign_in, company):
    ada = make_administrator("change_customer", name="Ada")
    mine, other = CustomerFactory.create(account_managers=[ada]), CustomerFactory.create()
    browser = sign_in(ada)
    listed = main_of(browser.get(url_of(Customer)))
    assert (mine.name in listed, other.name in listed) == (True, False)
    hidden = browser.get(url_of(Customer, "change", other.pk))
    assert (hidden.status_code, "There is nothing here" in main_of(hidden)) == (404, True)


def test_the_owner_keeps_the_book_of_all_customers_whatever_their_own_scope(
    sign_in, owner, customer
):
    assert not owner.has_perm(Permission.VIEW_ALL_CUSTOMERS)
    assert customer.name in main_of(sign_in(owner).get(url_of(Customer)))


def test_every_permission_that_can_be_given_exists_and_has_words(company):
    known = {
        f"invoices.{name}"
        for name in PermissionRow.objects.filter(content_type__app_label="invoices").values_list(
            "codename", flat=True
        )
    }
    assert set(WORDS) <= known
    assert {str(each) for each in Permission} <= set(WORDS)
    assert all(re.fullmatch(r"[A-Z][\w ,:-]+", str(words)) for words in WORDS.values())


def test_lists_cost_the_same_whatever_their_length(books, desk, django_assert_max_num_queries):
    UserFactory.create_batch(40)
    CustomerFactory.create_batch(30)
    for model in BOOKS:
        with django_assert_max_num_queries(16):
            desk.get(url_of(model))
