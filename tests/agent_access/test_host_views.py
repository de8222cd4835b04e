"""A project's own viewset, which agents call at its address, over HTTP and over MCP."""

import json
from base64 import b64encode
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, Permission
from django.test import Client
from rest_framework.authentication import BasicAuthentication
from rest_framework.exceptions import ValidationError
from rest_framework.routers import SimpleRouter
from typing_extensions import override

from agent_access.http import viewset_tools
from agent_access.models import AccessSettings, AuditEvent, Connection, Receipt
from agent_access.tools import registry
from invoicing.models import Team
from tests.agent_access.host_views import READ, TOOLS, WRITE, CachedTeamViewSet, TeamViewSet
from tests.agents import BAD_CREDENTIAL, HOST, read_answer
from tests.factories import PASSWORD, TeamFactory, UserFactory

# What is read here asks no database.
pytestmark = [pytest.mark.usefixtures("_clock_stands_still"), pytest.mark.sqlite]

TEAMS = "/host/teams/"
BASIC = f"Basic {b64encode(f'nora@halden.example:{PASSWORD}'.encode()).decode()}"
MIDDLEWARE = [
    "agent_access.gate.GateMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]


@pytest.fixture(autouse=True)
def _other_project(settings, monkeypatch) -> None:
    settings.ROOT_URLCONF = "tests.agent_access.host_urls"
    settings.MIDDLEWARE = MIDDLEWARE
    monkeypatch.setattr(registry, "_tools", {})
    registry.register(*TOOLS)


def grant(user, *names: str):
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))


@pytest.fixture
def nora(company):
    nora = UserFactory.create(
        name="Nora", email="nora@halden.example", password=make_password(PASSWORD)
    )
    grant(nora, "view_team", "add_team", "change_team", "delete_team")
    return nora


@pytest.fixture
def team(nora):
    return TeamFactory.create(name="Crew", members=[nora])


class Caller:
    """Calls any address with a credential, and a tool over MCP."""

    def __init__(self, credential, client=None) -> None:
        self.credential, self.client = credential, client or Client()

    def send(self, method, path, body=None, *, key=None, **headers: str):
        sent = {"Host": HOST, "Authorization": f"Bearer {self.credential}"} | headers
        if key:
            sent["Idempotency-Key"] = key
        content = b"" if body is None else json.dumps(body).encode()
        response = self.client.generic(
            method, path, content, "application/json", secure=True, headers=sent
        )
        return read_answer(response)

    def call_mcp(self, tool, **arguments: Any):
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        version = {"MCP-Protocol-Version": "2025-11-25"}
        return self.send("POST", "/mcp", message, **version).body["result"]["structuredContent"]


@pytest.fixture
def connect_caller(connect):
    def make(user, *scopes: str) -> tuple[Connection, Caller]:
        connection, agent = connect(user, scopes=scopes or (READ, WRITE))
        return connection, Caller(agent.credential)

    return make


@pytest.fixture
def _connected(connect_caller, nora) -> Any:
    return connect_caller(nora)


@pytest.fixture
def connection(_connected):
    return _connected[0]


@pytest.fixture
def caller(_connected):
    return _connected[1]


@pytest.fixture
def browser(nora):
    """The person herself, signed in with a session."""
    client = Client(enforce_csrf_checks=True, headers={"Host": HOST})
    client.force_login(nora)
    return client


def last_event(connection):
    events = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    event = events.last()
    return event and (event.action, event.outcome)


def shown(team, nora):
    return {
        "id": str(team.id),
        "name": team.name,
        "description": team.description,
        "archived_at": None,
        "members": [str(nora.id)],
    }


def test_an_agent_reads_at_the_views_address_what_a_person_reads_there(
    caller, browser, team, nora, connection
):
    TeamFactory.create(name="Hidden")
    expected = {"count": 1, "next": None, "previous": None, "results": [shown(team, nora)]}
    answer = caller.send("GET", TEAMS)
    assert (answer.status, answer.body) == (200, expected)
    assert browser.get(TEAMS, secure=True).content == answer.content
    assert answer.headers["Cache-Control"] == "no-store"
    assert "connection" in answer.headers["RateLimit"]
    assert last_event(connection) == ("teams.list", "ok")
    one = caller.send("GET", f"{TEAMS}{team.id}/")
    assert (one.status, one.body) == (200, shown(team, nora))
    assert caller.send("GET", f"{TEAMS}{team.id}.json").content == one.content
    events = AuditEvent.objects.filter(action="teams.get")
    assert {each.target for each in events} == {str(team.id)}


def test_a_tool_is_the_same_over_every_door(caller, team, nora):
    expected = {"data": shown(team, nora)}
    assert caller.send("GET", f"/api/v1/teams/{team.id}").body == expected
    assert caller.call_mcp("teams_get", id=str(team.id)) == expected


def test_a_write_with_one_key_is_done_once_whichever_doors_it_came_to(caller, nora, connection):
    body = {"name": "Band", "description": "Plays", "agenda": [{"topic": "!"}]}
    made = caller.send("POST", TEAMS, body, key="one")
    team = Team.objects.get()
    expected = shown(team, nora)
    assert (made.status, made.body) == (201, expected)
    assert (team.description, [*team.members.all()]) == ("Plays!", [nora])
    again = caller.send("POST", TEAMS, body, key="one")
    assert (again.status, again.content) == (201, made.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    over_http = caller.send("POST", "/api/v1/teams", body, key="one")
    assert (over_http.status, over_http.body) == (201, {"data": expected})
    assert caller.call_mcp("teams_create", **body, idempotency_key="one") == {"data": expected}
    assert Receipt.objects.get().record_id == team.id
    assert Team.objects.count() == 1
    assert AuditEvent.objects.filter(action="teams.create", detail="replayed").count() == 3
    other = caller.send("POST", TEAMS, {"name": "Band"}, key="one")
    assert (other.status, other.code) == (409, "conflict")


def test_a_made_record_is_not_replayed_to_whoever_may_no_longer_see_it(caller, nora):
    body = {"name": "Band"}
    assert caller.send("POST", TEAMS, body, key="one").status == 201
    nora.teams.clear()
    for path in (TEAMS, "/api/v1/teams"):
        assert caller.send("POST", path, body, key="one").code == "not_found"


def test_a_write_without_a_record_is_not_replayed_to_whom_the_view_would_refuse(
    caller, nora, team, connection
):
    left = caller.send("POST", f"{TEAMS}leave_all/", {}, key="one")
    assert left.body == {"left": 1}
    assert caller.send("POST", f"{TEAMS}leave_all/", {}, key="one").content == left.content
    nora.job_title = "Outsider"
    nora.save()
    refused = caller.send("POST", f"{TEAMS}leave_all/", {}, key="one")
    assert (refused.status, refused.code) == (403, "forbidden")
    assert last_event(connection) == ("teams.leave_all", "forbidden")


def test_every_action_with_terms_answers_at_its_address(caller, team, nora):
    path = f"{TEAMS}{team.id}/"
    put = caller.send("PUT", path, {"name": "New", "description": "All"}, key="1")
    assert (put.status, put.body["name"], put.body["description"]) == (200, "New", "All")
    patched = caller.send("PATCH", path, {"name": "Newer", "description": None}, key="2")
    assert (patched.status, patched.body["name"], patched.body["description"]) == (
        200,
        "Newer",
        "All",
    )
    archived = caller.send("POST", f"{path}archive/", {}, key="3")
    assert (archived.status, archived.body) == (202, {"greeting": "Hello"})
    twice = caller.send("POST", f"{path}archive/", {}, key="4")
    assert (twice.status, twice.error) == (409, {"code": "conflict", "message": "It is archived."})
    praised = caller.send("POST", f"{path}praise/", {"motto": None}, key="5")
    assert praised.body == {"motto": "None by Nora"}


def test_a_deletion_has_no_body_at_the_address_and_null_as_data_elsewhere(caller, team):
    path = f"{TEAMS}{team.id}/"
    for _ in range(2):
        gone = caller.send("DELETE", path, key="1")
        assert (gone.status, gone.content) == (204, b"")
    over_http = caller.send("DELETE", f"/api/v1/teams/{team.id}", key="1")
    assert (over_http.status, over_http.body) == (200, {"data": None})
    assert not Team.objects.exists()


def test_records_with_integers_as_keys_are_the_same_over_every_door(caller, nora, connection):
    permission = Permission.objects.all()[0]
    body = {"name": "Reader", "permissions": [permission.pk]}
    made = caller.send("POST", "/host/roles/", body, key="1")
    assert (made.status, made.body["permissions"]) == (201, [permission.pk])
    number = made.body["id"]
    assert Receipt.objects.get().record_id == UUID(int=number)
    for path in (f"/host/roles/{number}/", f"/api/v1/roles/{number}"):
        read = caller.send("GET", path)
        assert read.body.get("data", read.body) == made.body
    assert caller.call_mcp("roles_get", id=number) == {"data": made.body}
    assert caller.call_mcp("roles_create", **body, idempotency_key="1") == {"data": made.body}
    hidden = Group.objects.create(name="Hidden")
    for unknown in (hidden.pk, 0, f"0{number}", 2**63, 2**70, "x", UUID(int=number)):
        assert caller.send("GET", f"/host/roles/{unknown}/").code == "not_found"
    for wrong in ([2**63], [0], ["1"], [str(permission.pk)]):
        refused = caller.send("POST", "/host/roles/", {**body, "permissions": wrong}, key="2")
        assert (refused.status, refused.error["fields"]) == (422, ["permissions.0"])
    none = caller.send("POST", "/host/roles/", {**body, "permissions": [2**63 - 1]}, key="2")
    assert {each["field"] for each in none.error["problems"]} == {"name", "permissions"}
    assert str(2**63 - 1) not in none.content.decode()
    nora.groups.clear()
    assert caller.send("POST", "/host/roles/", body, key="1").code == "not_found"
    assert last_event(connection) == ("roles.create", "not_found")


def test_the_views_own_filters_and_pages_take_what_the_terms_declare(caller, nora):
    for name in ("Ants", "Bees", "Apes", "Cats"):
        TeamFactory.create(name=name, members=[nora])
    for path in (TEAMS, "/api/v1/teams"):
        second = caller.send("GET", f"{path}?page=2").body
        second = second.get("data", second)
        assert [each["name"] for each in second["results"]] == ["Apes", "Cats"]
        assert second["previous"] == f"https://{HOST}{path}"
    found = caller.call_mcp("teams_list", search="ee")["data"]
    assert [each["name"] for each in found["results"]] == ["Bees"]
    assert found["next"] is None
    beyond = caller.send("GET", f"{TEAMS}?page=3")
    assert (beyond.status, beyond.code) == (404, "not_found")
    unknown = caller.send("GET", f"{TEAMS}?format=json&ordering=name&page=0")
    assert (unknown.status, sorted(unknown.error["fields"])) == (
        422,
        ["format", "ordering", "page"],
    )


def test_what_the_schema_or_the_serializer_refuses_is_named_by_its_path(caller, team, connection):
    body = {
        "description": "x",
        "agenda": [{"topic": "", "minutes": 61}],
        "archived_at": "2026-01-01T00:00:00Z",
        "members": [],
        "owner": 1,
    }
    refused = caller.send("POST", TEAMS, body, key="1")
    assert (refused.status, refused.code) == (422, "validation_failed")
    fields = ["agenda.0.minutes", "agenda.0.topic", "archived_at", "members", "name", "owner"]
    assert sorted(refused.error["fields"]) == fields
    own = caller.send("POST", TEAMS, {"name": "Nobody"}, key="2")
    problem = {"field": "name", "problem": "A team is somebody."}
    assert (own.status, own.error["problems"]) == (422, [problem])
    blank = caller.send("PATCH", f"{TEAMS}{team.id}/", {"name": " "}, key="2")
    assert (blank.status, blank.error["fields"]) == (422, ["name"])
    nul = caller.send("POST", TEAMS, {"name": "a\0b"}, key="3")
    assert (nul.status, nul.error["fields"]) == (422, ["name"])
    assert caller.send("POST", TEAMS, {"name": "x"}).error["fields"] == ["Idempotency-Key"]
    assert last_event(connection) == ("teams.create", "validation_failed")
    assert Team.objects.count() == 1


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/host/plain-teams/", 403),  # a view that is no tool
        ("GET", "/host/child-teams/", 403),  # one that derives from a view with tools
        ("PUT", "/host/child-teams/", 403),
        ("GET", "/host/single-team/", 403),  # AgentCalls on a view without actions
        ("GET", f"{TEAMS}secrets/", 403),  # actions without terms
        ("POST", f"{TEAMS}%s/disband/", 403),
        ("GET", "/other/house/teams/", 403),  # an address that names more than the record
        ("OPTIONS", TEAMS, 405),
        ("HEAD", TEAMS, 405),
        ("PUT", TEAMS, 405),
    ],
)
def test_a_connection_is_refused_wherever_no_tool_is(
    caller, connection, team, method, path, status
):
    path = path.replace("%s", str(team.id))
    answer = caller.send(method, path, None if method != "POST" else {}, key="1")
    code = {403: "forbidden", 405: "method_not_allowed"}[status]
    assert answer.status == status
    assert method == "HEAD" or answer.code == code
    assert last_event(connection)[1] == code
    if status == 405:
        assert answer.headers["Allow"] == "GET, POST"
    assert [*Team.objects.all()] == [team]


def test_a_connection_is_refused_in_the_same_words_by_views_that_know_no_agents(caller, connection):
    answer = caller.send("GET", "/host/plain-teams/")
    assert set(answer.body) == {"error"}
    assert last_event(connection) == ("http.request", "forbidden")
    unknown = Caller("ivc_" + "x" * 43).send("GET", "/host/plain-teams/")
    assert (unknown.status, unknown.headers["WWW-Authenticate"]) == (401, BAD_CREDENTIAL)


def test_people_and_other_schemes_are_left_to_the_classes_behind(client, browser, connection):
    for path in (TEAMS, "/host/plain-teams/"):
        assert browser.get(path, secure=True).status_code == 200
        headers = {"Host": HOST, "Authorization": "Bearer of-another-scheme"}
        other = client.get(path, headers=headers, secure=True)
        assert other.status_code == (403 if path == TEAMS else 200)
    assert not AuditEvent.objects.filter(outcome="forbidden").exists()


def test_a_person_is_answered_and_refused_as_before(browser, team):
    path = f"{TEAMS}{team.id}/"
    refused = browser.post(TEAMS, {"name": "x"}, secure=True)
    assert (refused.status_code, "CSRF" in refused.json()["detail"]) == (403, True)
    assert browser.get(f"{TEAMS}secrets/", secure=True).status_code == 200
    assert browser.get(f"{path}?colour=red", secure=True).status_code == 200
    assert "Cache-Control" in browser.get(path, secure=True)
    assert not Receipt.objects.exists()


@pytest.mark.parametrize("path", [TEAMS, "/host/plain-teams/", f"{TEAMS}secrets/"])
@pytest.mark.parametrize(
    "headers", [{"Origin": f"https://{HOST}"}, {"Origin": "null"}, {"Host": "elsewhere.example"}]
)
def test_the_gate_stands_at_the_projects_addresses_too(caller, connection, path, headers):
    answer = caller.send("POST", path, {"name": "x"}, key="1", **headers)
    assert (answer.status, Team.objects.count()) == (403, 0)
    if "Origin" in headers:
        assert answer.code == "forbidden"
        assert last_event(connection)[1] == "forbidden"


def test_a_refusal_by_the_gate_is_audited_for_no_more_than_the_limit(caller, connection, settings):
    settings.AGENT_ACCESS |= {"LIMIT_PER_CONNECTION": 2}
    refused = [caller.send("GET", TEAMS, Origin="null").code for _ in range(4)]
    assert refused == ["forbidden"] * 4
    events = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    assert [each.outcome for each in events] == ["forbidden", "forbidden", "rate_limited"]


def test_no_cookie_has_a_say_in_a_call(connect_caller, browser, nora, company):
    sue = UserFactory.create(name="Sue")
    grant(sue, "add_team", "change_team")
    team = TeamFactory.create(name="Crew", members=[sue])
    caller = Caller(connect_caller(sue)[1].credential, browser)
    answer = caller.send("POST", f"{TEAMS}{team.id}/praise/", {"motto": "Go"}, key="1")
    assert answer.body == {"motto": "Go by Sue"}
    seen = caller.send("GET", f"{TEAMS}whoami/")
    assert seen.body == {"user": "Sue", "django_user": "Sue", "cookies": {}, "session": {}}
    assert seen.headers.get("Set-Cookie") is None
    wrong = Caller("ivc_" + "x" * 43, browser)
    assert wrong.send("GET", TEAMS).status == 401


def test_a_cached_page_is_that_persons_alone(connect_caller, browser, team, nora, company):
    sue = UserFactory.create(name="Sue")
    grant(sue, "view_team")
    callers = [connect_caller(nora)[1], connect_caller(sue)[1]]
    assert len(browser.get("/host/cached-teams/", secure=True).json()) == 1
    headers = {"Host": HOST, "X-Person": "Nora"}
    assert len(Client().get("/host/cached-teams/", secure=True, headers=headers).json()) == 1
    for path in ("/host/cached-teams/", "/api/v1/cached-teams"):
        answers = [caller.send("GET", path).body for caller in callers for _ in range(2)]
        lists = [each["data"] if isinstance(each, dict) else each for each in answers]
        assert [len(each) for each in lists] == [1, 1, 0, 0]


@pytest.mark.usefixtures("team", "company")
def test_nobody_else_leaves_a_cached_page_for_an_agent(caller, nora, monkeypatch):
    monkeypatch.setattr(CachedTeamViewSet, "throttle_classes", [])
    UserFactory.create(name="Sue")
    headers = {"Host": HOST, "X-Person": "Sue", "Cookie": f"agent={nora.pk}"}
    assert Client().get("/host/cached-teams/", secure=True, headers=headers).json() == []
    assert len(caller.send("GET", "/host/cached-teams/").body) == 1


@pytest.mark.parametrize("policy", ["ADDRESS", "CONNECTION"])
def test_no_other_address_of_a_view_has_a_limit_of_its_own(caller, settings, team, policy):
    settings.AGENT_ACCESS |= {f"LIMIT_PER_{policy}": 3}
    paths = [TEAMS, f"{TEAMS}{team.id}.json", "/api/v1/teams", "/host/plain-teams/", TEAMS]
    assert [caller.send("GET", path).status for path in paths] == [200, 200, 200, 429, 429]
    assert 1 <= int(caller.send("GET", "/host/plain-teams/").headers["Retry-After"]) <= 60


@pytest.mark.parametrize("policy", ["ADDRESS", "CONNECTION"])
def test_a_call_is_counted_once_though_the_view_has_our_throttles_too(
    caller, browser, settings, policy
):
    settings.AGENT_ACCESS |= {f"LIMIT_PER_{policy}": 3}
    cached = "/host/cached-teams/"
    assert [caller.send("GET", cached).status for _ in range(4)] == [200, 200, 200, 429]
    people = browser.get(cached, secure=True).status_code
    assert people == (429 if policy == "ADDRESS" else 200)


def test_the_views_own_throttle_counts_over_every_door(caller, team, connection):
    paths = [TEAMS, f"{TEAMS}{team.id}/", "/api/v1/teams", f"/api/v1/teams/{team.id}"]
    assert [caller.send("GET", path).status for path in paths] == [200] * 4
    assert "data" in caller.call_mcp("teams_list")
    limited = [caller.send("GET", path) for path in paths[1:3]]
    assert [(each.status, each.code) for each in limited] == [(429, "rate_limited")] * 2
    assert 1 <= int(limited[0].headers["Retry-After"]) <= 60
    assert caller.call_mcp("teams_list")["error"]["code"] == "rate_limited"
    assert last_event(connection) == ("teams.list", "rate_limited")


def test_grant_permission_module_and_switch_are_asked_for_before_the_view(
    connect_caller, nora, team, company
):
    connection, reader = connect_caller(nora, READ)
    refused = reader.send("POST", TEAMS, {"name": "x"}, key="1")
    assert (refused.status, refused.code, WRITE in refused.error["message"]) == (
        403,
        "forbidden",
        True,
    )
    assert last_event(connection) == ("teams.create", "forbidden")
    nora.user_permissions.clear()
    assert "invoices.view_team" in reader.send("GET", TEAMS).error["message"]
    AccessSettings.objects.update(modules_off=["teams"])
    assert reader.send("GET", TEAMS).code == "not_found"
    assert last_event(connection) == ("teams.list", "not_found")
    AccessSettings.objects.update(access_on=False)
    assert [reader.send("GET", path).code for path in (TEAMS, "/host/plain-teams/")] == [
        "not_found"
    ] * 2


@pytest.mark.parametrize("door", [TEAMS, "/api/v1/teams/"])
def test_the_views_own_permissions_are_asked_over_every_door(caller, nora, team, connection, door):
    quiet = TeamFactory.create(name="Quiet", members=[nora])
    slash = "/" if door == TEAMS else ""
    refused = caller.send("GET", f"{door}{quiet.id}{slash}")
    message = "Quiet teams are not to be disturbed."
    assert (refused.status, refused.error) == (403, {"code": "forbidden", "message": message})
    nora.job_title = "Outsider"
    nora.save()
    assert caller.send("GET", f"{door}{team.id}{slash}").code == "forbidden"
    assert last_event(connection) == ("teams.get", "forbidden")


def test_an_address_of_the_view_with_stricter_or_looser_rules_keeps_them(caller, nora):
    nora.job_title = "Outsider"
    nora.save()
    assert caller.send("POST", TEAMS, {"name": "x"}, key="1").code == "forbidden"
    assert caller.send("POST", "/other/teams/", {"name": "x"}, key="2").status == 201


def test_a_hidden_record_an_unknown_one_and_no_id_are_the_same(caller, team):
    hidden = TeamFactory.create(name="Hidden")
    for record in (hidden.id, "01999999-0000-7000-8000-000000000000", "nobody"):
        answer = caller.send("GET", f"{TEAMS}{record}/")
        assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.usefixtures("as_in_production")
def test_a_bug_of_the_view_is_503_and_leaves_nothing_behind(caller, nora, monkeypatch, connection):
    def fail(view, serializer) -> None:
        serializer.save()
        raise RuntimeError("a bug")

    monkeypatch.setattr(TeamViewSet, "perform_create", fail)
    failed = caller.send("POST", TEAMS, {"name": "x"}, key="1")
    assert (failed.status, failed.code) == (503, "unavailable")
    assert (Team.objects.count(), Receipt.objects.count()) == (0, 0)
    assert last_event(connection) == ("teams.create", "unavailable")


def test_with_atomic_requests_people_keep_their_transaction_and_calls_begin_their_own(
    caller, browser, settings, monkeypatch
):
    monkeypatch.setitem(settings.DATABASES["default"], "ATOMIC_REQUESTS", value=True)

    class FailingViewSet(TeamViewSet):
        authentication_classes = [BasicAuthentication]

        @override
        def perform_create(self, serializer: Any) -> None:
            serializer.save()
            if serializer.validated_data["name"] == "Fails":
                raise ValidationError("too late")

    class Urls:
        router = SimpleRouter()
        router.register("teams", FailingViewSet)
        urlpatterns = router.urls

    monkeypatch.setitem(viewset_tools._tools, FailingViewSet, viewset_tools.tools_of(TeamViewSet))
    settings.ROOT_URLCONF = Urls
    headers = {"Host": HOST, "Authorization": BASIC}
    for name, status, count in (("Fails", 400, 0), ("Works", 201, 1)):
        answer = Client().post("/teams/", {"name": name}, secure=True, headers=headers)
        assert (answer.status_code, Team.objects.count()) == (status, count)
    assert caller.send("POST", "/teams/", {"name": "Mine"}, key="1").status == 201


def test_the_tools_are_listed_over_http_and_mcp(caller):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    version = {"MCP-Protocol-Version": "2025-11-25"}
    listed = caller.send("POST", "/mcp", message, **version).body["result"]["tools"]
    by_name = {each["name"]: each for each in listed}
    assert sorted(by_name) == sorted(tool.mcp_name for tool in TOOLS)
    assert by_name["teams_praise"]["inputSchema"]["properties"]["motto"] == {
        "type": ["string", "null"],
        "minLength": 1,
        "maxLength": 30,
        "description": "Null takes it back.",
    }
    assert by_name["teams_list"]["annotations"]["readOnlyHint"]
    assert by_name["teams_archive"]["annotations"]["destructiveHint"]
    assert not by_name["teams_create"]["annotations"]["destructiveHint"]
