"""A user who does not see all customers sees their own, and the documents of those only."""

from uuid import uuid4

import pytest

from invoicing.models import Customer
from tests.factories import CustomerFactory, make_draft, make_issued
from tests.interface.refusals import invalid, nothing_changes, refusal, seen


@pytest.fixture
def own(stranger, colleague):
    return CustomerFactory.create(name="Own Ltd", account_managers=[stranger, colleague])


@pytest.fixture
def foreign(colleague):
    return CustomerFactory.create(name="Foreign Ltd", account_managers=[colleague])


@pytest.fixture
def manager(connect, stranger):
    """The agent of an account manager."""
    return connect(stranger)[1]


def ids(answer):
    return [record["id"] for record in answer.data]


@pytest.mark.requirement("access.record_scope", "service.delegated_user")
def test_an_account_manager_finds_their_own_customers_and_the_documents_of_those(
    manager, own, foreign
):
    mine = [make_draft(customer=own), make_issued(customer=own)]
    make_draft(customer=foreign)
    make_issued(customer=foreign)

    assert ids(manager.call("customers.search")) == [str(own.id)]
    assert ids(manager.call("customers.search", {"search": "ltd"})) == [str(own.id)]
    assert ids(manager.call("documents.list")) == [str(document.id) for document in mine]
    assert ids(manager.call("documents.list", {"search": "ltd"})) == ids(
        manager.call("documents.list")
    )
    assert manager.call("documents.list", {"search": "foreign"}).data == []


@pytest.mark.requirement("error.hidden_like_missing", "error.not_found")
def test_a_foreign_document_is_no_document(manager, own, foreign, draft_body):
    hidden, missing = make_draft(customer=foreign).id, uuid4()
    body = draft_body | {"customer_id": str(own.id), "lock_version": 1}
    with nothing_changes():
        reads = [manager.call("documents.get", id=target) for target in (hidden, missing)]
        writes = [
            manager.call("drafts.update", body, id=target, key=str(target))
            for target in (hidden, missing)
        ]

        assert [seen(answer) for answer in reads + writes] == [refusal("not_found")] * 4
        assert len({answer.content for answer in reads + writes}) == 1


@pytest.mark.requirement("draft_input.customer_id")
@pytest.mark.parametrize("tool", ["documents.preview", "drafts.create", "drafts.update"])
def test_a_hidden_a_missing_and_an_inactive_customer_are_one(
    manager, stranger, foreign, draft_body, tool
):
    inactive = CustomerFactory.create(account_managers=[stranger])
    draft = make_draft(customer=inactive)
    Customer.objects.filter(pk=inactive.pk).update(is_active=False)
    version = {"lock_version": 1} if tool == "drafts.update" else {}
    with nothing_changes():
        answers = [
            manager.call(
                tool, draft_body | version | {"customer_id": str(pk)}, id=draft.id, key=f"k-{pk}"
            )
            for pk in (foreign.id, uuid4(), inactive.id)
        ]

        assert len({answer.content for answer in answers}) == 1
        expected = invalid(("customer_id", "is not an active customer within reach"))
        assert seen(answers[0]) == expected


def test_an_account_manager_drafts_for_their_own_customers(manager, own, draft_body):
    body = draft_body | {"customer_id": str(own.id)}
    assert manager.call("documents.preview", body).status == 200
    created = manager.call("drafts.create", body, key="create")
    assert created.status == 201
    update = body | {"lock_version": 1, "reference": "new"}
    updated = manager.call("drafts.update", update, id=created.data["id"], key="update")
    assert (updated.status, updated.data["reference"]) == (200, "new")


def test_a_draft_cannot_be_handed_to_a_customer_out_of_scope(manager, own, foreign, draft_body):
    draft = make_draft(customer=own)
    with nothing_changes():
        body = draft_body | {"customer_id": str(foreign.id), "lock_version": 1}
        answer = manager.call("drafts.update", body, id=draft.id, key="k")
        assert (answer.status, answer.error["fields"]) == (422, ["customer_id"])


def test_the_scope_is_that_of_the_moment(manager, stranger, own, foreign):
    document = make_draft(customer=own)
    assert manager.call("documents.get", id=document.id).status == 200

    own.account_managers.remove(stranger)
    foreign.account_managers.add(stranger)

    assert seen(manager.call("documents.get", id=document.id)) == refusal("not_found")
    assert ids(manager.call("customers.search")) == [str(foreign.id)]


def test_the_documents_of_an_own_inactive_customer_stay_in_scope(manager, own):
    document = make_draft(customer=own)
    Customer.objects.update(is_active=False)
    assert ids(manager.call("documents.list")) == [str(document.id)]
    assert manager.call("customers.search").data == []


def test_a_user_without_customers_sees_none(connect, stranger, foreign):
    make_draft(customer=foreign)
    _, agent = connect(stranger)
    for tool in ("customers.search", "documents.list"):
        assert agent.call(tool).body == {"data": [], "next": None}


def test_who_sees_all_customers_sees_each_once(agent, own, foreign):
    documents = [make_draft(customer=own), make_draft(customer=foreign)]
    assert ids(agent.call("customers.search")) == [str(own.id), str(foreign.id)]
    assert ids(agent.call("documents.list")) == [str(document.id) for document in documents]
