"""JSON-RPC and MCP in every revision: what is honest is answered, what is not changes nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.methods import serialize_server_result, validate_server_result

from invoicing.access import Permission
from invoicing.models import Document
from tests.agents import Answer
from tests.factories import CustomerFactory, UserFactory, make_draft
from tests.fuzzing.effort import try_hard
from tests.fuzzing.mcp_messages import (
    UNHEARD,
    Sent,
    honest,
    mismatched,
    notifications,
    refused,
)
from tests.fuzzing.sending import Sender, read_mcp

pytestmark = pytest.mark.django_db

HIDDEN = "Verborgen & Söhne"
Calls = list[dict[str, Any]]


@pytest.fixture
def sender(connect: Any, draft_body: dict[str, Any]) -> Sender:
    """An account manager's agent, from whom another's customer is hidden."""
    permissions = [each for each in Permission if each != Permission.VIEW_ALL_CUSTOMERS]
    user, other = (UserFactory.create(permissions=permissions) for _ in range(2))
    hidden = CustomerFactory.create(name=HIDDEN, account_managers=[other])
    make_draft(user=other, customer=hidden)
    own = CustomerFactory.create(account_managers=[user])
    draft_body["customer_id"] = str(own.id)
    make_draft(user=user, customer=own)
    _, agent = connect(user)
    return Sender(str(agent.credential), name="MCP messages")


@pytest.fixture
def calls(sender: Sender, draft_body: dict[str, Any]) -> Calls:
    """Calls of tools: a write first, then reads, also of what is hidden."""
    hidden = str(Document.objects.get(customer__name=HIDDEN).id)
    write = {"name": "drafts_create", "arguments": {**draft_body, "idempotency_key": "fuzz"}}
    names = ("customers_search", "documents_list", "people_list", "teams_list")
    reads = [{"name": name, "arguments": {"search": "Verborgen"}} for name in names[:2]]
    reads += [{"name": name} for name in names]
    return [write, *reads, {"name": "documents_get", "arguments": {"id": hidden}}]


def expect_schema(sent: Sent, answer: Answer) -> None:
    """Hold a result to the schema of its revision: all that it has is in it, and nothing else."""
    assert type(answer.body["id"]) is type(sent.message["id"])
    assert answer.body["id"] == sent.message["id"]
    method, version, result = sent.message["method"], str(sent.version), answer.body["result"]
    validate_server_result(method, version, result)
    assert serialize_server_result(method, version, result) == result


def test_an_honest_request_is_answered_whatever_else_the_client_says(sender, calls):
    """What it accepts, its session and where its stream ended change nothing."""
    unheard = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in UNHEARD.items()}
    )

    @try_hard(15, long=150)
    @given(honest(calls), unheard)
    def fuzz(sent: Sent, said: dict[str, str]) -> None:
        answer = sender.send(sent.call(sender.credential, **said))
        assert answer.status == 200
        sender.expect(answer, refused=read_mcp(answer))
        expect_schema(sent, answer)
        assert HIDDEN not in answer.content.decode()
        plain = sender.send(sent.call(sender.credential))
        assert plain.content == answer.content
        sender.expect(plain, refused=True)

    fuzz()
    assert Document.objects.count() <= 3


def test_what_is_no_request_is_refused_in_every_revision(sender, calls):
    @try_hard(15, long=150)
    @given(refused(calls))
    def fuzz(sent: Sent) -> None:
        answer = sender.send(sent.call(sender.credential))
        assert read_mcp(answer)
        assert answer.status in {200, 400, 404}
        assert answer.body["error"]["code"] in {-32700, -32600, -32601, -32602, -32020}
        sender.expect(answer, refused=True)

    fuzz()
    assert Document.objects.count() == 2


def test_a_write_whose_headers_say_something_else_is_none(sender, calls):
    @try_hard(15, long=150)
    @given(mismatched(calls))
    def fuzz(sent: Sent) -> None:
        answer = sender.send(sent.call(sender.credential))
        assert read_mcp(answer)
        assert answer.status == 400
        assert answer.body["error"]["code"] in {-32020, -32022, -32602}
        sender.expect(answer, refused=True)

    fuzz()
    assert Document.objects.count() == 2


def test_a_notification_gets_no_answer_and_does_nothing(sender, calls):
    @try_hard(15, long=150)
    @given(notifications(calls))
    def fuzz(sent: Sent) -> None:
        answer = sender.send(sent.call(sender.credential))
        assert (answer.status, answer.content) == (202, b"")
        sender.expect(answer, refused=True)

    fuzz()
    assert Document.objects.count() == 2
