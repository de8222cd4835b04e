"""What the database says after a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import psycopg
from psycopg.rows import class_row


class Document(NamedTuple):
    id: str
    connection_id: str
    reference: str
    notes: str
    status: str
    lock_version: int
    number: str | None
    series_id: str | None
    series_value: int | None
    issued_at: datetime | None
    # When the transaction that wrote the row as it is now was committed.
    committed_at: datetime


class Rest(NamedTuple):
    """The least that is left of a line, a rate or the total of an invoice that was corrected."""

    what: str
    rest: int


class Approval(NamedTuple):
    id: str
    connection_id: str
    document_id: str
    lock_version: int
    decision: str
    decided_at: datetime | None
    expires_at: datetime
    executed_at: datetime | None
    execute_key: str


class Receipt(NamedTuple):
    connection_id: str
    key: str
    tool: str
    record_id: str | None
    status: int | None


class Event(NamedTuple):
    connection_id: str
    action: str
    target: str
    outcome: str
    detail: str
    request_id: str


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The rows that clients caused, the last value of each series, and the audit's breaks.

    The documents are the agents' invoices, the corrections the credit notes of their people.
    """

    documents: Sequence[Document] = ()
    corrections: Sequence[Document] = ()
    rests: Sequence[Rest] = ()
    approvals: Sequence[Approval] = ()
    receipts: Sequence[Receipt] = ()
    events: Sequence[Event] = ()
    series: Mapping[str, int] = field(default_factory=dict)
    # The documents that the audit says people have issued by hand, as often as it says so.
    by_hand: Sequence[str] = ()
    # How many signatures are kept, and the numbers that were issued without one that was demanded.
    signed: int = 0
    unsigned: Sequence[str] = ()
    breaks: Sequence[str] = ()

    @property
    def issued(self) -> list[Document]:
        return [document for document in self.documents if document.number is not None]

    @property
    def numbered(self) -> list[Document]:
        return [*self.issued, *(each for each in self.corrections if each.number is not None)]


DOCUMENTS = """
    SELECT id::text, connection_id::text, reference, notes, status, lock_version, number,
        series_id::text, series_value, issued_at, pg_xact_commit_timestamp(xmin) AS committed_at
    FROM invoices_document WHERE type = %s ORDER BY id
"""
RESTS = """
    WITH taken AS (
        SELECT * FROM invoices_document WHERE corrects_id IS NOT NULL AND number IS NOT NULL
    )
    SELECT concat('line ', told.id) AS what, least(
        told.quantity_ten_thousandths - sum(own.quantity_ten_thousandths),
        told.discount_amount - sum(own.discount_amount),
        told.net_amount - sum(own.net_amount)
    )::bigint AS rest
    FROM taken JOIN invoices_line AS own ON own.document_id = taken.id
    JOIN invoices_line AS told ON told.id = own.corrects_id GROUP BY told.id
    UNION ALL
    SELECT concat('tax row ', told.id), least(
        told.taxable_amount - sum(own.taxable_amount), told.tax_amount - sum(own.tax_amount)
    )::bigint
    FROM taken JOIN invoices_taxrow AS own ON own.document_id = taken.id
    JOIN invoices_taxrow AS told
        ON told.document_id = taken.corrects_id AND told.tax_rate_id = own.tax_rate_id
    GROUP BY told.id
    UNION ALL
    SELECT concat('invoice ', told.number), (told.grand_total - sum(taken.grand_total))::bigint
    FROM taken JOIN invoices_document AS told ON told.id = taken.corrects_id GROUP BY told.id
"""
APPROVALS = """
    SELECT id::text, connection_id::text, target::text AS document_id,
        target_version AS lock_version, decision, decided_at, expires_at, executed_at, execute_key
    FROM agent_approvals_approvalrequest ORDER BY id
"""
RECEIPTS = """
    SELECT connection_id::text, key, tool, record_id::text, status
    FROM agent_access_receipt ORDER BY id
"""
EVENTS = """
    SELECT connection_id::text, action, target, outcome, detail, request_id
    FROM agent_access_auditevent WHERE connection_id IS NOT NULL ORDER BY chain, sequence
"""
BY_HAND = "SELECT target FROM agent_access_auditevent WHERE action = 'document:issued'"
SIGNED = "SELECT count(*) FROM agent_passkeys_signature"
UNSIGNED = """
    SELECT told.number FROM invoices_document AS told
    WHERE told.number IS NOT NULL
    AND EXISTS (
        SELECT 1 FROM agent_passkeys_signingrules
        WHERE parties @> to_jsonb(told.customer_id::text)
    )
    AND NOT EXISTS (
        SELECT 1 FROM agent_passkeys_signature AS signed
        LEFT JOIN agent_approvals_approvalrequest AS asked ON asked.id = signed.record_id
        WHERE (signed.purpose = 'do' AND signed.record_id = told.id)
        OR (signed.purpose = 'approve' AND asked.target = told.id AND asked.executed_at IS NOT NULL)
    )
"""
SERIES = "SELECT id::text, last_value FROM invoices_numberseries"


def read_evidence(url: str, *, breaks: Sequence[str]) -> Evidence:
    """Read the database as it stands; the breaks are what verify_audit said."""
    with psycopg.connect(url) as connection:
        return Evidence(
            documents=connection.cursor(row_factory=class_row(Document))
            .execute(DOCUMENTS, ["invoice"])
            .fetchall(),
            corrections=connection.cursor(row_factory=class_row(Document))
            .execute(DOCUMENTS, ["credit_note"])
            .fetchall(),
            rests=connection.cursor(row_factory=class_row(Rest)).execute(RESTS).fetchall(),
            approvals=connection.cursor(row_factory=class_row(Approval))
            .execute(APPROVALS)
            .fetchall(),
            receipts=connection.cursor(row_factory=class_row(Receipt)).execute(RECEIPTS).fetchall(),
            events=connection.cursor(row_factory=class_row(Event)).execute(EVENTS).fetchall(),
            series=dict(connection.execute(SERIES).fetchall()),
            by_hand=[target for (target,) in connection.execute(BY_HAND)],
            signed=sum(count for (count,) in connection.execute(SIGNED)),
            unsigned=[number for (number,) in connection.execute(UNSIGNED)],
            breaks=breaks,
        )
