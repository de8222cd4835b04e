"""The section "Agent access" is the owner's alone: every route of it, and every kind of person."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.urls import URLPattern, URLResolver, get_resolver

from agent_access.admin_site import may_administer, may_approve
from agent_access.models import AuditEvent, Receipt
from agent_access.oauth.models import Application
from invoicing.models import Company, User
from tests.browsers import Browser
from tests.factories import UserFactory
from tests.snapshots import take_snapshot

# Who may open which page: no database decides that.
pytestmark = pytest.mark.sqlite

APPS = ("agent_access", "agent_oauth")
MODELS = [model for model in admin.site._registry if model._meta.app_label in APPS]


def routes(patterns: Any = None, prefix: str = "/") -> Iterator[tuple[str, str]]:
    """Yield the name and the path of every route of the section, parameters in their brackets."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(each.pattern).lstrip("^")
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, path)
        elif isinstance(each, URLPattern) and path.startswith(tuple(f"/admin/{a}/" for a in APPS)):
            yield str(each.name), path


ROUTES = sorted(routes())
PEOPLE = ("superuser", "administrator", "delegate", "guest", "former_owner")


@pytest.fixture
def paths(agent, connection, draft_body) -> dict[str, str]:
    """Every route, with the identifiers of records that exist."""
    agent.call("drafts.create", draft_body, key="one")
    client = Application.objects.create(
        name="Ledger agent", redirect_uris="https://client.example/", client_type="public"
    )
    ids = {
        "agent_access/connection": connection.id,
        "agent_access/receipt": Receipt.objects.get().id,
        "agent_access/auditevent": AuditEvent.objects.order_by("-id")[0].id,
        "agent_oauth/application": client.pk,
    }
    paths = {}
    for name, path in ROUTES:
        model = "/".join(path.split("/")[2:4])
        for converter in ("<agent_access_id:object_id>", "<int:object_id>"):
            path = path.replace(converter, str(ids.get(model)))  # noqa: PLW2901  the same path, filled
        paths[name] = path.replace("<slug:name>", "access")
    return paths


@pytest.fixture
def former_owner(owner: User, company: Company) -> User:
    """Somebody who owned the installation until a moment ago, and administers it still."""
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    Company.objects.update(owner=UserFactory.create())
    return User.objects.get(pk=owner.pk)


def test_the_section_has_the_routes_that_it_needs_and_no_others():
    assert [name for name, _ in ROUTES] == [
        "agent_access_accesssettings_changelist",
        "agent_access_accesssettings_stop",
        "agent_access_accesssettings_switch",
        "agent_access_auditevent_change",
        "agent_access_auditevent_changelist",
        "agent_access_connection_add",
        "agent_access_connection_change",
        "agent_access_connection_changelist",
        "agent_access_connection_rename",
        "agent_access_connection_revoke",
        "agent_access_receipt_change",
        "agent_access_receipt_changelist",
        "agent_oauth_application_change",
        "agent_oauth_application_changelist",
        "agent_oauth_application_delete",
    ]
    assert sorted(str(model._meta.model_name) for model in MODELS) == [
        "accesssettings",
        "application",
        "auditevent",
        "connection",
        "receipt",
    ]


def test_the_owner_reaches_every_page(owner_desk, paths):
    statuses = {name: owner_desk.get(path).status_code for name, path in paths.items()}
    assert {name for name, status in statuses.items() if status != 200} == {
        "agent_access_accesssettings_stop",
        "agent_access_connection_revoke",
    }
    assert statuses["agent_access_accesssettings_stop"] == 405
    assert statuses["agent_access_connection_revoke"] == 302


@pytest.mark.requirement("access.owner_decides")
@pytest.mark.parametrize("person", PEOPLE)
def test_nobody_else_reaches_any_page_or_changes_anything(request, sign_in, paths, person):
    browser = sign_in(request.getfixturevalue(person))
    browser.get("/approvals")
    before = take_snapshot()
    for path in [*paths.values(), "/admin/agent_access/nothing/"]:
        for method in (browser.get, browser.post, browser.put, browser.delete, browser.options):
            answer = method(path, {"state": "off", "post": "yes", "action": "revoke"})
            assert answer.status_code in {403, 404}, (path, method)
            assert "Ledger agent" not in answer.content.decode()
    for path in ("/admin/agent_access/", "/admin/agent_oauth/"):
        assert browser.get(path).status_code in {403, 404}
    assert take_snapshot() == before


def test_signed_out_people_are_asked_to_sign_in(browser, paths):
    before = take_snapshot()
    for path in [*paths.values(), "/admin/agent_access/", "/admin/agent_oauth/"]:
        for method in (browser.get, browser.post):
            answer = method(path, {"state": "off"})
            assert answer.status_code == 302, path
            assert answer["Location"].split("?")[0] in {"/sign-in", "/admin/login/"}
    assert take_snapshot() == before


@pytest.mark.django_db
def test_while_nobody_owns_the_installation_whoever_is_signed_out_does_not(rf):
    request = rf.get("/admin/")
    request.user = AnonymousUser()
    assert not Company.objects.exists()
    assert not may_administer(request)
    assert not may_approve(request)


@pytest.mark.parametrize("person", ["superuser", "administrator"])
def test_the_section_is_not_shown_to_administrators(request, sign_in, connection, person):
    page = sign_in(request.getfixturevalue(person)).get("/admin/").content.decode()
    shown_to_owners = (
        "Agent access",
        "Connections",
        "Stop all agents",
        "/admin/agent_access",
        "live con",
    )
    for hidden in shown_to_owners:
        assert hidden not in page


def test_the_owner_sees_one_section_in_order(owner_desk, connection):
    page = owner_desk.get("/admin/").content.decode()
    names = ["Agent access", "Switches", "Connections", "OAuth clients", "Receipts", "Audit events"]
    assert [name for name in names if f">{name}<" in page] == names
    assert sorted(names, key=lambda name: page.index(f">{name}<")) == names
    for path in ("/admin/agent_access/", "/admin/agent_oauth/"):
        assert owner_desk.get(path)["Location"] == "/admin/agent_access/accesssettings/"


def test_looking_changes_nothing(owner_desk, paths):
    owner_desk.get("/admin/")
    before, events = take_snapshot(), AuditEvent.objects.count()
    for path in paths.values():
        for query in ("", "?state=off", "?post=yes&action=revoke", "?e=1"):
            owner_desk.get(path + query)
            owner_desk.head(path + query)
    after = take_snapshot()
    # A warning that waits to be shown lies in the session.
    assert {**after, "sessions.Session": []} == {**before, "sessions.Session": []}
    assert AuditEvent.objects.count() == events


def test_a_form_without_its_token_changes_nothing(owner, paths):
    strict = Browser(enforce_csrf_checks=True)
    strict.force_login(owner)
    before = take_snapshot()
    for path in paths.values():
        answer = strict.post(path, {"state": "off", "post": "yes"})
        assert answer.status_code in {403, 405}, path
    headers = {"Origin": "https://evil.example"}
    stop = paths["agent_access_accesssettings_stop"]
    assert strict.post(stop, headers=headers).status_code == 403
    assert take_snapshot() == before


@pytest.mark.parametrize("page", ["stop", "switch", "revoke", "delete"])
def test_an_owner_who_was_signed_out_meanwhile_changes_nothing(
    request, owner_desk, paths, connection, page
):
    [path] = [each for name, each in paths.items() if name.endswith(f"_{page}")]
    before = take_snapshot()
    request.getfixturevalue("signed_out_first")
    answer = owner_desk.post(path, {"state": "off", "id": str(connection.id)})
    assert answer.status_code == 403
    assert take_snapshot() == before


@pytest.mark.parametrize(
    "path",
    [
        "connection/0190f1f0-0000-7000-8000-000000000000/",
        "receipt/0190f1f0-0000-7000-8000-000000000000/",
        "auditevent/0190f1f0-0000-7000-8000-000000000000/",
        "connection/x/",
        "accesssettings/nothing/",
    ],
)
def test_what_is_not_there_is_not_found(owner_desk, path):
    assert owner_desk.get(f"/admin/agent_access/{path}").status_code == 404


ODD_QUERIES = (
    "q=%00",
    "q=" + "x" * 60_000,
    "q=" + "x+" * 1_100,
    "p=x",
    "p=999",
    "o=9.9",
    "state=%00",
    "connection=%00",
    "connection=x",
    "from=9999-12-31",
    "to=9999-12-31",
    "from=%00",
    "tool=%00",
    "kind=%00",
    "actor=%00",
    "all=",
    "_facets=1",
    "_popup=1",
)


LISTS = (
    "agent_access/connection",
    "agent_access/receipt",
    "agent_access/auditevent",
    "agent_oauth/application",
)


@pytest.mark.parametrize("of", LISTS)
def test_an_odd_address_of_a_list_is_no_mistake(owner_desk, paths, subtests, of):
    for query in ODD_QUERIES:
        with subtests.test(query=query[:60]):
            answer = owner_desk.get(f"/admin/{of}/?{query}", follow=True)
            assert answer.status_code in {200, 400}


@pytest.mark.parametrize(
    "path",
    [
        "connection/?credential_digest__startswith=a",
        "connection/?user__password__startswith=a",
        "receipt/?answer__contains=nonce",
        "auditevent/?digest__startswith=a",
    ],
)
def test_an_address_asks_for_no_more_than_the_page_offers(owner_desk, paths, path):
    assert owner_desk.get(f"/admin/agent_access/{path}").status_code == 400
