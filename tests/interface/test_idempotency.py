"""One key, one write: repeated it answers as before, for another call it is refused."""

import json
from dataclasses import replace

import pytest

from agent_access.approvals.models import ApprovalRequest
from agent_access.connections import revoke_connection
from agent_access.models import AccessSettings, Connection, Receipt
from agent_access.models.connections import RevokedReason
from invoicing.access import Permission
from invoicing.models import Document
from tests.factories import CustomerFactory, make_draft, withdraw
from tests.interface.http_requests import send
from tests.interface.refusals import (
    IN_DEMO_MODE,
    KEY_OF_ANOTHER_CALL,
    OLD_VERSION,
    audit_of,
    missing_grant,
    missing_permissions,
    no_permissions,
    nothing_changes,
    refusal,
    seen,
)
from tests.tool_table import DRAFT_WRITES, ISSUE_TOOLS, WRITING


def replay_of(answer):
    return answer.status, answer.content, answer.headers.get("Idempotent-Replayed")


@pytest.mark.requirement("idempotency.identical_retry", "idempotency.key_header")
@pytest.mark.parametrize("tool", WRITING)
def test_a_retry_gives_the_very_same_bytes_and_writes_nothing(agent, connection, calls, tool):
    first = calls[tool].made_by(agent)
    assert "Idempotent-Replayed" not in first.headers
    with nothing_changes():
        for _ in range(3):
            assert replay_of(calls[tool].made_by(agent)) == (first.status, first.content, "true")
    assert audit_of(connection) == [(tool, "ok")] * 4


@pytest.mark.parametrize("tool", WRITING)
def test_white_space_makes_no_other_call(agent, calls, tool):
    first = calls[tool].made_by(agent)
    arguments = calls[tool].arguments
    for raw in (
        json.dumps(arguments, indent=4),
        json.dumps(arguments, separators=(",", ":")),
        f"\n\t {json.dumps(arguments, ensure_ascii=False)} \r\n",
    ):
        again = send(calls[tool], agent, body=raw.encode())
        assert replay_of(again) == (first.status, first.content, "true")


def test_an_escaped_character_is_the_same_value(agent, calls):
    call = calls["drafts.create"]
    body = {**call.arguments, "notes": "für"}
    first = send(call, agent, body=json.dumps(body).encode())
    again = send(call, agent, body=json.dumps(body, ensure_ascii=False).encode())
    assert replay_of(again) == (201, first.content, "true")


def reorder(body):
    return dict(reversed(body.items()))


OTHER_BODIES = {
    "another value": lambda body: body | {"reference": "other"},
    "another order of fields": reorder,
    "another order within a line": lambda body: (
        body | {"line_items": [reorder(body["line_items"][0])]}
    ),
    "one field less": lambda body: {name: body[name] for name in body if name != "notes"},
    "null for a field left out": lambda body: (
        body | {"line_items": [body["line_items"][0] | {"unit": None}]}
    ),
    "another white space inside a text": lambda body: body | {"notes": body["notes"] + " "},
    "another way to write the same number": lambda body: (
        body | {"line_items": [body["line_items"][0] | {"quantity": "1.50"}]}
    ),
    "one line more": lambda body: body | {"line_items": body["line_items"] * 2},
}


@pytest.mark.requirement("idempotency.other_call")
@pytest.mark.parametrize("tool", DRAFT_WRITES)
def test_the_key_of_another_body_is_a_conflict(agent, calls, subtests, tool):
    first = calls[tool].made_by(agent)
    with nothing_changes():
        for name, change in OTHER_BODIES.items():
            with subtests.test(change=name):
                other = replace(calls[tool], arguments=change(dict(calls[tool].arguments)))
                assert seen(send(other, agent)) == KEY_OF_ANOTHER_CALL
    assert calls[tool].made_by(agent).content == first.content


def test_the_key_of_another_target_or_tool_is_a_conflict(agent, calls, customer, delegate):
    call = calls["drafts.update"]
    call.made_by(agent)
    another = make_draft(user=delegate, customer=customer)
    with nothing_changes():
        for other in (replace(call, id=another.id), replace(calls["drafts.create"], key=call.key)):
            assert seen(send(other, agent)) == KEY_OF_ANOTHER_CALL


def test_whose_retry_had_another_order_of_fields_is_not_told_to_write_again(agent, calls):
    call = calls["drafts.create"]
    call.made_by(agent)

    told = send(replace(call, arguments=reorder(call.arguments)), agent).error["message"]

    assert "was used for an earlier call" in told
    assert "the order of fields counts" in told
    assert "see what that call did, and do only what is left" in told


@pytest.mark.requirement("error.failure_stores_no_receipt")
def test_a_refusal_leaves_the_key_free(agent, calls):
    call = calls["drafts.update"]
    stale = replace(call, arguments={**call.arguments, "lock_version": 7})
    assert seen(send(stale, agent)) == OLD_VERSION
    wrong = replace(call, arguments={**call.arguments, "customer_id": str(call.id)})
    assert send(wrong, agent).status == 422
    assert Receipt.objects.count() == 0

    answer = call.made_by(agent)

    assert replay_of(answer) == (200, answer.content, None)
    assert Receipt.objects.count() == 1


def test_a_key_belongs_to_one_connection(connect, delegate, calls):
    call = calls["drafts.create"]
    agents = [connect(delegate)[1] for _ in range(2)]
    answers = [call.made_by(agent) for agent in agents]
    for answer in answers:
        assert replay_of(answer) == (201, answer.content, None)
    assert answers[0].data["id"] != answers[1].data["id"]
    assert Receipt.objects.count() == 2
    for agent, answer in zip(agents, answers, strict=True):
        assert replay_of(call.made_by(agent)) == (201, answer.content, "true")


def test_another_key_is_another_operation(agent, draft_body):
    keys = ("a", "A", "a_", "a-")
    ids = {agent.call("drafts.create", draft_body, key=key).data["id"] for key in keys}
    assert len(ids) == len(keys)


def test_a_reading_call_takes_no_notice_of_a_key(agent, draft_body):
    for body in (draft_body, reorder(draft_body)):
        answer = agent.call("documents.preview", body, key="same")
        assert replay_of(answer) == (200, answer.content, None)
    assert Receipt.objects.count() == 0


@pytest.mark.requirement("idempotency.original_write")
def test_a_receipt_tells_of_the_original_write(agent, calls):
    first = calls["drafts.create"].made_by(agent)
    target = first.data["id"]
    body = {**calls["drafts.create"].arguments, "lock_version": 1, "reference": "newer"}
    agent.call("drafts.update", body, id=target, key="later")
    with nothing_changes():
        assert calls["drafts.create"].made_by(agent).content == first.content
        assert agent.call("documents.get", id=target).data["lock_version"] == 2


def take_the_grant(connection, settings):
    Connection.objects.filter(pk=connection.pk).update(grants=["invoices:read"])


def take_the_permission(connection, settings):
    withdraw(connection.user, Permission.MANAGE, Permission.FINALIZE, Permission.VIEW_DOCUMENT)


def turn_demo_mode_on(connection, settings):
    settings.DEMO_MODE = True


def turn_the_module_off(connection, settings):
    AccessSettings.objects.update(modules_off=["invoices"])


def hide_the_record(connection, settings):
    withdraw(connection.user, Permission.VIEW_ALL_CUSTOMERS)


def move_the_record(connection, settings):
    """Only drafts move; what is issued has its customer for ever."""
    withdraw(connection.user, Permission.VIEW_ALL_CUSTOMERS)
    CustomerFactory.create(account_managers=[connection.user])
    Document.objects.filter(status="draft").update(customer=CustomerFactory.create())


def revoke(connection, settings):
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)


LOSSES = {
    take_the_grant: missing_grant,
    take_the_permission: no_permissions,
    turn_demo_mode_on: lambda _: IN_DEMO_MODE,
    turn_the_module_off: lambda _: refusal("not_found"),
    hide_the_record: lambda _: refusal("not_found"),
    move_the_record: lambda _: refusal("not_found"),
    revoke: lambda _: refusal("unauthenticated"),
}


@pytest.mark.requirement("error.receipt_restores_nothing", "authentication.current_permissions")
@pytest.mark.requirement("permissions.checked_on_draft_writes", "permissions.checked_on_issue")
@pytest.mark.parametrize("lose", LOSSES, ids=[loss.__name__ for loss in LOSSES])
def test_a_receipt_restores_no_lost_access(agent, connection, calls, settings, subtests, lose):
    for tool in WRITING:
        assert calls[tool].made_by(agent).status < 300
    lose(connection, settings)
    with nothing_changes():
        for tool in WRITING:
            with subtests.test(tool=tool):
                assert seen(calls[tool].made_by(agent)) == LOSSES[lose](tool)


@pytest.mark.requirement("error.receipt_restores_nothing", "authentication.current_permissions")
def test_no_answer_about_an_issue_is_given_to_whose_person_may_not_see_documents(
    agent, connection, calls, subtests
):
    for tool in ISSUE_TOOLS:
        assert calls[tool].made_by(agent).status < 300
    withdraw(connection.user, Permission.VIEW_DOCUMENT)
    with nothing_changes():
        for tool in ISSUE_TOOLS:
            with subtests.test(tool=tool):
                lost = missing_permissions(Permission.VIEW_DOCUMENT)
                assert seen(calls[tool].made_by(agent)) == lost


def test_a_receipt_is_given_again_when_access_is(agent, connection, calls, settings):
    first = calls["drafts.create"].made_by(agent)
    turn_demo_mode_on(connection, settings)
    assert calls["drafts.create"].made_by(agent).status == 403
    settings.DEMO_MODE = False
    assert replay_of(calls["drafts.create"].made_by(agent)) == (201, first.content, "true")


@pytest.mark.requirement("connection.evidence_retained", "revocation.evidence_remains")
@pytest.mark.requirement("revocation.approval_results_remain")
def test_all_that_was_written_outlives_the_connection(agent, connection, calls):
    for tool in WRITING:
        assert calls[tool].made_by(agent).status < 300
    assert Receipt.objects.count() == len(WRITING)
    [executed] = ApprovalRequest.objects.exclude(executed_at=None)
    assert json.loads(executed.result)["number"] == "INV-2026-0001"

    with nothing_changes(but="agent_access.Connection"):
        revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)

    assert audit_of(connection) == [(tool, "ok") for tool in WRITING]
    assert Connection.objects.filter(pk=connection.pk, name="Test agent").exists()
