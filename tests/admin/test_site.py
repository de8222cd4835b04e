"""Who enters the administration, and by which door."""

import pytest
from django.contrib import admin

from agent_access.oauth.models import AccessToken, Grant, RefreshToken
from invoicing.models import User
from tests.factories import UserFactory
from tests.web.forms import main_of

# Who enters by which door: no database decides that.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

NO_OWNER = "There is no company yet."
LINK = '<a href="/admin/"'


@pytest.mark.parametrize("name", ["owner", "superuser", "administrator"])
def test_the_owner_and_administrators_enter_and_find_the_way(request, sign_in, name):
    browser = sign_in(request.getfixturevalue(name))
    answer = browser.get("/admin/")
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    assert f'{LINK} aria-current="page"' in answer.content.decode()
    assert LINK in browser.get("/approvals").content.decode()


@pytest.mark.parametrize("name", ["delegate", "guest"])
@pytest.mark.parametrize("path", ["/admin/", "/admin/nothing", "/admin/jsi18n/"])
def test_nobody_else_enters_or_sees_the_way(request, sign_in, name, path):
    browser = sign_in(request.getfixturevalue(name))
    assert browser.get(path).status_code == 403
    assert LINK not in browser.get("/approvals").content.decode()


def test_an_owner_who_is_a_guest_does_not_enter(owner, sign_in):
    browser = sign_in(owner)
    User.objects.filter(pk=owner.pk).update(is_guest=True)
    assert sign_in(User.objects.get(pk=owner.pk)).get("/admin/").status_code == 403
    assert browser.get("/admin/").status_code == 302


def test_without_a_company_nobody_is_the_owner_and_the_front_page_says_so(sign_in):
    assert sign_in(UserFactory.create()).get("/admin/").status_code == 403
    answer = sign_in(UserFactory.create(is_staff=True)).get("/admin/")
    assert answer.status_code == 200
    assert NO_OWNER in main_of(answer)


@pytest.mark.parametrize("name", ["owner", "superuser"])
def test_with_a_company_nothing_is_said_of_it(request, sign_in, name):
    assert NO_OWNER not in main_of(sign_in(request.getfixturevalue(name)).get("/admin/"))


def test_signing_in_is_the_applications_own_page(browser, company):
    first = browser.get("/admin/")
    assert (first.status_code, first["Location"]) == (302, "/admin/login/?next=/admin/")
    second = browser.get(first["Location"])
    assert (second.status_code, second["Location"]) == (302, "/sign-in?next=/admin/")
    for answer in (browser.get("/admin/login/"), browser.post("/admin/login/", {"username": "x"})):
        assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/admin/")


def test_a_foreign_address_is_not_where_one_goes_next(owner_desk):
    first = owner_desk.get("/admin/login/?next=https://evil.example/")
    second = owner_desk.get(first["Location"])
    assert (second.status_code, second["Location"]) == (302, "/")


def test_a_person_who_may_not_enter_is_not_sent_around(sign_in, delegate):
    browser = sign_in(delegate)
    answer = browser.get("/admin/login/?next=/admin/", follow=True)
    assert [each for each, _ in answer.redirect_chain] == ["/sign-in?next=/admin/", "/admin/"]
    assert answer.status_code == 403


def test_signing_out_of_the_administration_is_signing_out(owner_desk):
    answer = owner_desk.post("/admin/logout/")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in")
    assert owner_desk.get("/admin/").status_code == 302


def test_the_address_without_its_slash_leads_there(owner_desk):
    answer = owner_desk.get("/admin")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


@pytest.mark.parametrize(
    "path",
    [
        "/admin/autocomplete/?app_label=invoices&model_name=document&field_name=customer&term=a",
        "/admin/password_change/",
        "/admin/r/1/1/",
        "/admin/nothing",
    ],
)
def test_what_the_application_does_elsewhere_is_not_here(owner_desk, path):
    answer = owner_desk.get(path)
    assert answer.status_code == 404
    assert "<h1>" in main_of(answer)


def test_codes_and_tokens_have_no_page(db):
    for model in (AccessToken, Grant, RefreshToken):
        assert not admin.site.is_registered(model)


def test_the_toolkits_own_tables_have_no_page():
    assert "oauth2_provider" not in {model._meta.app_label for model in admin.site._registry}
