"""Every tool against every reason that lies in the grants, the user, the switches or the record."""

from dataclasses import replace
from itertools import chain
from uuid import uuid4

import pytest

from agent_access.models import AccessSettings
from agent_access.tools import registry
from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.models import Customer, User
from tests.factories import CustomerFactory, UserFactory, grant, withdraw
from tests.interface.refusals import (
    IN_DEMO_MODE,
    audit_of,
    invalid,
    missing_grant,
    missing_permissions,
    no_permissions,
    nothing_changes,
    refusal,
    seen,
)
from tests.snapshots import take_snapshot
from tests.tool_table import ISSUE_TOOLS, SCOPES, TABLE, WITH_TARGET, WRITING

MODULES = tuple(dict.fromkeys(row.module for row in TABLE.values() if row.module))
PERMISSIONS = tuple(dict.fromkeys(chain(*(row.permissions for row in TABLE.values()))))

LONG_KEY = "k" * 80


def expect(refused, code):
    """Return the outcome of every tool where some are refused and all others work."""
    return {
        tool: (refusal(code)[0], code) if tool in refused else (TABLE[tool].status, "ok")
        for tool in TABLE
    }


def outcomes(calls, agent, told=None):
    """Make every call; return what each came to; what is refused must be `told` by its tool."""
    answers = {tool: call.made_by(agent) for tool, call in calls.items()}
    for tool, answer in answers.items():
        if answer.status >= 400:
            assert seen(answer) == told(tool)
    return {
        tool: (answer.status, answer.code if answer.status >= 400 else "ok")
        for tool, answer in answers.items()
    }


def test_every_tool_of_the_interface_answers_a_valid_call(agent, connection, calls):
    assert list(calls) == list(TABLE)
    assert outcomes(calls, agent) == expect((), "")
    assert audit_of(connection) == [(tool, "ok") for tool in TABLE]


@pytest.mark.parametrize("module", MODULES)
def test_the_tools_of_a_module_that_is_off_are_not_there(agent, connection, calls, module):
    AccessSettings.objects.update(modules_off=[module])
    refused = [tool for tool, row in TABLE.items() if row.module == module]
    with nothing_changes():
        assert {tool: seen(calls[tool].made_by(agent)) for tool in refused} == dict.fromkeys(
            refused, refusal("not_found")
        )
        assert audit_of(connection) == [(tool, "not_found") for tool in refused]


@pytest.mark.requirement("authentication.scopes", "error.forbidden", "error.code")
@pytest.mark.requirement("authentication.execute_scope", "issue.scope_and_permission")
@pytest.mark.parametrize("scope", SCOPES)
def test_a_missing_grant_refuses_exactly_the_tools_of_its_scope(connect, delegate, calls_of, scope):
    granted = [other for other in registry.scopes if other != scope]
    connection, agent = connect(delegate, scopes=granted)
    refused = [tool for tool, row in TABLE.items() if row.scope == scope]

    assert outcomes(calls_of(connection), agent, missing_grant) == expect(refused, "forbidden")
    assert audit_of(connection) == [
        (tool, "forbidden" if tool in refused else "ok") for tool in TABLE
    ]


@pytest.mark.requirement("issue.scope_and_permission", "issue.execute_rechecks_manage")
@pytest.mark.requirement("permissions.checked_on_issue")
@pytest.mark.parametrize("permission", PERMISSIONS)
def test_a_missing_permission_refuses_exactly_the_tools_that_need_it(connect, calls_of, permission):
    user = UserFactory.create(permissions=tuple(Permission))
    connection, agent = connect(user)
    calls = calls_of(connection)
    withdraw(user, permission)
    refused = [tool for tool, row in TABLE.items() if permission in row.permissions]

    found = outcomes(calls, agent, lambda _: missing_permissions(permission))
    assert found == expect(refused, "forbidden")
    assert audit_of(connection) == [
        (tool, "forbidden" if tool in refused else "ok") for tool in TABLE
    ]


@pytest.mark.requirement("issue.custom_role")
def test_a_custom_role_of_three_permissions_issues_the_invoices_in_its_reach(connect, calls_of):
    clerk = UserFactory.create(permissions=ISSUE_PERMISSIONS)
    connection, agent = connect(clerk)
    grant(clerk, Permission.VIEW_ALL_CUSTOMERS)
    calls = calls_of(connection)
    withdraw(clerk, Permission.VIEW_ALL_CUSTOMERS)
    mine = {tool: calls[tool] for tool in ISSUE_TOOLS}

    assert {tool: seen(call.made_by(agent)) for tool, call in mine.items()} == dict.fromkeys(
        mine, refusal("not_found")
    )
    Customer.objects.get().account_managers.add(clerk)
    assert outcomes(mine, agent) == {tool: (TABLE[tool].status, "ok") for tool in mine}


def test_a_permission_taken_away_counts_from_the_next_call_on(agent, delegate, calls):
    assert calls["documents.list"].made_by(agent).status == 200
    delegate.user_permissions.filter(codename="view_document").delete()
    answer = calls["documents.list"].made_by(agent)
    assert seen(answer) == missing_permissions(Permission.VIEW_DOCUMENT)


@pytest.mark.requirement("access.no_added_permission")
def test_the_scopes_add_no_permission_that_the_user_lacks(connect, calls):
    _, agent = connect(UserFactory.create(permissions=[Permission.VIEW_ALL_CUSTOMERS]))
    with nothing_changes():
        assert outcomes(calls, agent, no_permissions) == expect([*TABLE][1:], "forbidden")


@pytest.mark.parametrize("missing", ["grant", "permission", "both"])
def test_a_refused_write_changes_nothing(connect, delegate, calls, missing):
    user = delegate if missing == "grant" else UserFactory.create()
    scopes = None if missing == "permission" else ["invoices:read"]
    _, agent = connect(user, scopes=scopes)
    with nothing_changes():
        told = no_permissions if missing == "permission" else missing_grant
        for tool in WRITING:
            assert seen(calls[tool].made_by(agent)) == told(tool)


@pytest.mark.requirement("demo_mode.draft_writes", "demo_mode.reads", "demo_mode.issue_requests")
def test_demo_mode_refuses_writes_while_reads_and_previews_work(agent, calls, settings):
    settings.DEMO_MODE = True
    with nothing_changes():
        assert outcomes(calls, agent, lambda _: IN_DEMO_MODE) == expect(WRITING, "forbidden")


def test_an_unknown_argument_fails_at_every_tool(agent, connection, calls):
    expected = invalid(("surprise", "is not a field of this tool"))
    with nothing_changes():
        for call in calls.values():
            spoiled = replace(call, arguments={**call.arguments, "surprise": "x"})
            assert seen(spoiled.made_by(agent)) == expected, call.tool
        assert audit_of(connection) == [(tool, "validation_failed") for tool in TABLE]


@pytest.mark.parametrize("tool", WITH_TARGET)
def test_a_hidden_a_missing_and_a_malformed_id_get_the_very_same_answer(
    connect, stranger, customer, calls_of, tool
):
    """What is hidden was in their reach when their agent last saw it."""
    customer.account_managers.add(stranger)
    managed = CustomerFactory.create(name="Their own", account_managers=[stranger])
    connection, agent = connect(stranger)
    call = calls_of(connection)[tool]
    customer.account_managers.clear()
    User.objects.filter(name="Colin Colleague").update(is_guest=True)
    # Their own customer in the body, so that nothing but the target is wrong.
    arguments = dict(call.arguments)
    if "customer_id" in arguments:
        arguments["customer_id"] = str(managed.id)
    hidden = call.id
    targets = (hidden, uuid4(), "1", "none", f"urn:uuid:{hidden}", hidden.hex, f"{{{hidden}}}")
    with nothing_changes():
        answers = [
            replace(call, arguments=arguments, id=target, key=LONG_KEY).made_by(agent)
            for target in targets
        ]

    assert {answer.content for answer in answers} == {answers[0].content}
    assert seen(answers[0]) == refusal("not_found")
    assert audit_of(connection) == [(tool, "not_found")] * len(targets)


def test_no_other_form_of_an_id_names_its_record(agent, calls, subtests):
    before = take_snapshot()
    for tool in WITH_TARGET:
        known = calls[tool].id
        for spelling in (known.hex, f"{{{known}}}", f"urn:uuid:{known}"):
            with subtests.test(tool=tool, spelling=spelling):
                answer = replace(calls[tool], id=spelling).made_by(agent)
                assert seen(answer) == refusal("not_found")
    assert take_snapshot() == before
    named = {tool: calls[tool] for tool in WITH_TARGET}
    assert outcomes(named, agent) == {tool: (TABLE[tool].status, "ok") for tool in named}


def test_a_write_without_a_key_names_the_key(agent, connection, calls):
    with nothing_changes():
        for tool in WRITING:
            answer = replace(calls[tool], key=None).made_by(agent)
            assert seen(answer) == invalid(("Idempotency-Key", "is required")), tool
        assert audit_of(connection) == [(tool, "validation_failed") for tool in WRITING]


@pytest.mark.requirement("limit.idempotency_key")
def test_a_malformed_key_is_named_with_its_rule(agent, calls):
    rule = "must be a string of 1 to 80 ASCII letters, digits, underscores or hyphens"
    with nothing_changes():
        for key in ("", " ", "k" * 81, "a b", "a.b", "a/b", "ключ", "é", "a,b", '"a"', "a\n"):
            answer = replace(calls["drafts.create"], key=key).made_by(agent)
            assert seen(answer) == invalid(("Idempotency-Key", rule)), key


def test_every_key_within_the_rule_is_taken(agent, calls):
    for key in ("k", "_", "-", LONG_KEY, "Az_09-"):
        assert replace(calls["drafts.create"], key=key).made_by(agent).status == 201, key
