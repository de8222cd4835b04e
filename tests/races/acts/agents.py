"""What an agent does over HTTP for its person."""

from typing import Any

from tests.agents import Answer
from tests.factories import ISSUE_DATE
from tests.races.stage import Stage
from tests.races.table import Thing, act

PERSON = (Thing.PERSON,)
ASKING = (Thing.CONNECTION, Thing.DOCUMENT, Thing.APPROVAL)
OF_DRAFT = (Thing.PERSON, Thing.CUSTOMER, Thing.RATE)


def body_of(stage: Stage, *, customer: Any = None) -> dict[str, Any]:
    """Return a draft for the customer, or for the one of the draft, as the interface takes it."""
    line = {
        "description": "Consulting",
        "quantity": "3",
        "unit_price": "7000",
        "tax_rate_id": str(stage.books.rate.pk),
    }
    return {
        "customer_id": str((customer or stage.books.customer).pk),
        "currency_code": "EUR",
        "issue_date": str(ISSUE_DATE),
        "due_date": "2026-04-01",
        "line_items": [line],
    }


@act("an agent creates a draft", Thing.CONNECTION, Thing.DOCUMENT, needs=OF_DRAFT)
def create(stage: Stage) -> Answer:
    return stage.agents.agent.call("drafts.create", body_of(stage), key="create")


@act("an agent updates the draft", Thing.CONNECTION, Thing.DOCUMENT, needs=OF_DRAFT)
def update(stage: Stage) -> Answer:
    moved = body_of(stage, customer=stage.books.other_customer) | {"lock_version": 1}
    draft = stage.books.draft.pk
    return stage.agents.agent.call("drafts.update", moved, id=draft, key="update")


@act("an agent asks to issue the draft", *ASKING, Thing.NOTICE, needs=OF_DRAFT)
def prepare(stage: Stage) -> Answer:
    draft = stage.books.draft.pk
    asked = {"lock_version": 1}
    return stage.agents.agent.call("documents.issue_prepare", asked, id=draft, key="prepare")


@act("an agent issues the approved draft", *ASKING, Thing.SERIES, needs=OF_DRAFT)
def execute(stage: Stage) -> Answer:
    approved = stage.agents.approved
    nonce, approval = {"nonce": approved.nonce}, approved.approval.pk
    return stage.agents.agent.call("documents.issue", nonce, id=approval, key="execute")


@act("an agent asks for what it may not", Thing.CONNECTION, needs=(*PERSON, Thing.DOCUMENT))
def be_refused(stage: Stage) -> Answer:
    """The refusal is audited after its transaction, in another one."""
    invoice = stage.books.invoice.pk
    asked = {"lock_version": 2}
    return stage.agents.agent.call("documents.issue_prepare", asked, id=invoice, key="refused")


@act("an agent searches customers", Thing.CONNECTION, needs=(*PERSON, Thing.CUSTOMER))
def search(stage: Stage) -> Answer:
    return stage.agents.agent.call("customers.search", {"search": "acme"})


@act("a client's agent searches customers", needs=(*PERSON, Thing.CLIENT, Thing.CUSTOMER))
def search_by_token(stage: Stage) -> Answer:
    token = stage.clients.pair["access_token"]
    return type(stage.agents.agent)(token).call("customers.search", {"search": "acme"})
