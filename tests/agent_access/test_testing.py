"""The agent for tests, of a project that has tools of both transports."""

import pytest

from agent_access.models import AccessSettings, AuditEvent, Receipt
from agent_access.testing import AgentClient
from agent_access.tools import registry

CALLS = {"http": AgentClient.call, "mcp": AgentClient.call_mcp}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


@pytest.fixture
def client(make_agent, owner, delegate):
    return make_agent(delegate)


def test_making_an_agent_turns_access_on_and_gives_it_every_scope(client, owner, delegate):
    assert AccessSettings.read().access_on
    assert client.connection.user == delegate
    assert client.connection.owner_id == owner.pk
    assert client.connection.grants == list(registry.scopes)


def test_it_reads_a_record_by_its_id(client, customer, call):
    answer = call(client, "customers.search", {"search": customer.name})
    assert answer.status_code == 200
    assert customer.name in answer.content.decode()


def test_each_write_has_a_key_of_its_own_unless_one_is_given(client, draft_body, call):
    for key in (None, None, "same", "same"):
        assert call(client, "drafts.create", draft_body, key=key).status_code in {200, 201}
    assert Receipt.objects.count() == 3


def test_what_it_did_is_audited_as_an_agents_call(client, call):
    call(client, "teams.list")
    assert AuditEvent.objects.filter(
        connection_id=client.connection.id, action="teams.list"
    ).exists()


def test_a_tool_that_nobody_has_is_the_tests_own_mistake(client, call):
    with pytest.raises(LookupError, match=r"No tool is called teams\.burn\."):
        call(client, "teams.burn")
