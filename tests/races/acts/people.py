"""What the person does on the pages: to documents, approvals and originals."""

from typing import Any

from tests.factories import ISSUE_DATE
from tests.races.stage import Stage
from tests.races.table import Thing, act

PERSON = (Thing.PERSON,)
DECIDING = (Thing.PERSON, Thing.DOCUMENT, Thing.CONNECTION, Thing.PASSKEY)
ISSUING = (Thing.DOCUMENT, Thing.SERIES)
OF_DRAFT = (Thing.PERSON, Thing.CUSTOMER, Thing.RATE)


def decide(stage: Stage, decision: str, assertion: str = "") -> Any:
    asked = stage.agents.asked
    form = {"decision": decision, "fingerprint": asked.fingerprint, "reason": ""}
    return stage.people.desk.post(f"/approvals/{asked.pk}", form | {"assertion": assertion})


@act("the person approves what is asked", Thing.APPROVAL, Thing.PASSKEY, needs=DECIDING)
def approve(stage: Stage) -> Any:
    return decide(stage, "approve", stage.keys.signed["approve"])


@act("the person approves what is asked unsigned", Thing.APPROVAL, needs=DECIDING)
def approve_unsigned(stage: Stage) -> Any:
    """The rules demand a signature of what this connection asks."""
    return decide(stage, "approve")


@act("the person rejects what is asked", Thing.APPROVAL, needs=DECIDING)
def reject(stage: Stage) -> Any:
    return decide(stage, "reject")


@act("the person rejects all that a connection asks", Thing.APPROVAL, needs=DECIDING)
def reject_all(stage: Stage) -> Any:
    asking = stage.agents.other_connection.pk
    return stage.people.desk.post(f"/approvals/connections/{asking}/reject")


@act("the person withdraws what was approved", Thing.APPROVAL, Thing.DOCUMENT, needs=DECIDING)
def withdraw(stage: Stage) -> Any:
    return stage.people.desk.post(f"/approvals/{stage.agents.approved.approval.pk}/withdraw")


@act(
    "the person looks at what is asked",
    Thing.APPROVAL,
    needs=DECIDING,
    has_parts=True,
    goes_on=True,
)
def look(stage: Stage) -> Any:
    return stage.people.desk.get(f"/approvals/{stage.agents.asked.pk}")


def form_of(stage: Stage, **changes: Any) -> dict[str, Any]:
    """Return the form of a draft, filled in."""
    return {
        "customer_id": str(stage.books.customer.pk),
        "issue_date": str(ISSUE_DATE),
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "language": "en",
        "line-TOTAL_FORMS": "1",
        "line-0-description": "Written by hand",
        "line-0-quantity": "2",
        "line-0-unit_price": "80",
        "line-0-tax_rate_id": str(stage.books.rate.pk),
        "save": "",
        **changes,
    }


@act("the person writes a draft", Thing.DOCUMENT, needs=OF_DRAFT, goes_on=True)
def write(stage: Stage) -> Any:
    form = form_of(stage, draft_code=stage.books.new_code)
    return stage.people.desk.post("/documents/new", form)


@act("the person edits the draft", Thing.DOCUMENT, needs=OF_DRAFT, goes_on=True)
def edit(stage: Stage) -> Any:
    path = f"/documents/{stage.books.draft.pk}/edit"
    return stage.people.desk.post(path, form_of(stage, lock_version="1"))


@act("the person issues the draft by hand", *ISSUING, needs=(*OF_DRAFT, Thing.PASSKEY))
def issue(stage: Stage) -> Any:
    form = {"fingerprint": stage.seen.draft}
    return stage.people.desk.post(f"/documents/{stage.books.draft.pk}/issue", form)


def correct(stage: Stage, **changes: Any) -> dict[str, Any]:
    """Return the form of a credit note over one of the two that the line of the invoice has."""
    [line] = stage.books.invoice.lines.all()
    form = {"issue_date": str(ISSUE_DATE), "correction_reason": "One was too much."}
    return form | {f"quantity-{line.pk}": "1"} | changes


@act("the person writes a credit note", Thing.DOCUMENT, needs=OF_DRAFT, goes_on=True)
def write_correction(stage: Stage) -> Any:
    path = f"/documents/{stage.books.invoice.pk}/correct"
    return stage.people.desk.post(path, correct(stage, draft_code=stage.books.new_code))


@act("the person changes the credit note", Thing.DOCUMENT, needs=OF_DRAFT, goes_on=True)
def change_correction(stage: Stage) -> Any:
    path = f"/documents/{stage.books.correction.pk}/change"
    return stage.people.desk.post(path, correct(stage, lock_version="1"))


@act("the person issues the credit note", *ISSUING, needs=(*OF_DRAFT, Thing.PASSKEY))
def issue_correction(stage: Stage) -> Any:
    form = {"fingerprint": stage.seen.correction}
    return stage.people.desk.post(f"/documents/{stage.books.correction.pk}/issue", form)


@act("the person issues another credit note", *ISSUING, needs=(*OF_DRAFT, Thing.PASSKEY))
def issue_other_correction(stage: Stage) -> Any:
    """Both take back all that the invoice has, of which it has enough for one."""
    form = {"fingerprint": stage.seen.other_correction}
    return stage.people.desk.post(f"/documents/{stage.books.other_correction.pk}/issue", form)


@act(
    "the person downloads the original",
    Thing.ORIGINAL,
    needs=(*PERSON, Thing.DOCUMENT),
    has_parts=True,
)
def download(stage: Stage) -> Any:
    return stage.people.desk.get(f"/documents/{stage.books.invoice.pk}/xrechnung")


@act("the person exports documents", needs=(*PERSON, Thing.DOCUMENT), has_parts=True)
def export(stage: Stage) -> str:
    days = dict.fromkeys(("first_day", "last_day"), stage.books.issued_on)
    answer: Any = stage.people.desk.post("/exports", {"kind": "documents", **days})
    lines = b"".join(answer.streaming_content).count(b"\n") if answer.streaming else 0
    return f"{answer.status_code}, {lines} lines"


@act(
    "the person opens the evidence", needs=(*PERSON, Thing.DOCUMENT, Thing.ORIGINAL), has_parts=True
)
def open_evidence(stage: Stage) -> Any:
    return stage.people.desk.get(f"/evidence/{stage.books.invoice.pk}")
