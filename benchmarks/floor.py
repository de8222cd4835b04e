"""The floor: the same rows read and written by bare SQL, without guards, limits or triggers."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
from uuid_utils.compat import uuid7

from benchmarks.subjects import Prepare, References, Step, Subject, make_draft_input

TABLES = (
    *("invoices_customer", "invoices_taxrate", "invoices_numberseries", "invoices_document"),
    *("invoices_line", "invoices_taxrow"),
    *("agent_access_receipt", "agent_access_chainhead", "agent_access_auditevent"),
)
CHAIN = "floor"
TODAY = date.today()  # noqa: DTZ011  any day will do

HEADER = (
    *("type", "status", "draft_code", "lock_version", "customer_id", "issue_date", "due_date"),
    *("currency_code", "minor_unit", "language", "notes", "reference", "internal_notes"),
    *("net_total", "discount_total", "tax_total", "grand_total", "connection_name"),
    *("created_by_id", "created_at", "updated_at", "seller_name", "seller_address"),
    *("seller_vat_number", "seller_iban", "seller_bic"),
    *("buyer_name", "buyer_address", "buyer_vat_number"),
)
LINE = {
    "id": "uuid",
    "position": "smallint",
    "description": "text",
    "quantity_ten_thousandths": "bigint",
    "unit": "text",
    "unit_price": "bigint",
    "discount_type": "text",
    "discount_value": "bigint",
    "tax_rate_id": "uuid",
    "discount_amount": "bigint",
    "net_amount": "bigint",
}

READ = "SELECT * FROM invoices_document WHERE id = %s"
READ_LINES = "SELECT * FROM invoices_line WHERE document_id = %s ORDER BY position"
READ_TAX_ROWS = "SELECT * FROM invoices_taxrow WHERE document_id = %s ORDER BY position"
LIST = "SELECT * FROM invoices_document ORDER BY id LIMIT 26"

CLAIM = """
    INSERT INTO agent_access_receipt
        (id, connection_id, key, tool, call_digest, answer, is_encrypted, created_at)
    VALUES (%s, %s, %s, 'drafts.create', '', '', false, now()) ON CONFLICT DO NOTHING
"""
ANSWER = "UPDATE agent_access_receipt SET status = 201, answer = %s WHERE id = %s"
CUSTOMER = "SELECT * FROM invoices_customer WHERE id = %s AND is_active"
RATES = "SELECT * FROM invoices_taxrate WHERE id = ANY(%s) AND is_active"
WRITE_DOCUMENT = (
    f"INSERT INTO invoices_document (id, {', '.join(HEADER)})"  # noqa: S608  constants
    f" VALUES ({', '.join(['%s'] * (len(HEADER) + 1))})"
)
WRITE_LINES = (
    f"INSERT INTO invoices_line (document_id, {', '.join(LINE)})"  # noqa: S608  constants
    f" SELECT %s, * FROM unnest({', '.join(f'%s::{kind}[]' for kind in LINE.values())})"
)
WRITE_TAX_ROW = """
    INSERT INTO invoices_taxrow (id, document_id, position, tax_rate_id, name,
                                 percentage_ten_thousandths, taxable_amount, tax_amount)
    SELECT uuidv7(), %s, position, rate, '19 %%', 190000, 1000, 190
    FROM unnest(%s::uuid[]) WITH ORDINALITY AS used (rate, position)
"""
MOVE_HEAD = """
    UPDATE agent_access_chainhead SET sequence = sequence + 1, digest = '', last_used_at = now()
    WHERE chain = %s RETURNING sequence
"""
RECORD = """
    INSERT INTO agent_access_auditevent
        (id, chain, sequence, occurred_at, action, target, outcome, detail, transport, request_id,
         client_address, digest)
    VALUES (%s, %s, %s, now(), 'drafts.create', %s, 'ok', '', 'http', '', '127.0.0.1', '')
"""
LOCK_DRAFT = "SELECT * FROM invoices_document WHERE id = %s FOR NO KEY UPDATE"
TAKE_NUMBER = """
    UPDATE invoices_numberseries SET last_value = last_value + 1 WHERE id = %s RETURNING last_value
"""
FREEZE = """
    UPDATE invoices_document
    SET status = 'issued', number = %s, series_id = %s, series_value = %s, issued_at = now(),
        issued_by_id = %s
    WHERE id = %s AND status = 'draft'
"""


class Floor:
    """One psycopg connection on copies of the product's tables, in a schema of their own."""

    def __init__(self, database_url: str, references: References) -> None:
        self._references = references
        self._connection = psycopg.connect(
            database_url,
            autocommit=True,
            prepare_threshold=1,
            options="-c search_path=floor,public",
        )
        self._make_tables()
        run = self._connection.execute
        [(self._agent_connection, self._user)] = run(
            "SELECT id, user_id FROM agent_access_connection LIMIT 1"
        ).fetchall()
        self._series = uuid7()
        run("INSERT INTO invoices_numberseries VALUES (%s, 'invoice', 1999, 0)", [self._series])
        run("INSERT INTO agent_access_chainhead VALUES (%s, 0, '', now(), true)", [CHAIN])
        for _ in range(120):
            self._document_id = self._create(10)

    def _make_tables(self) -> None:
        """Copy tables with their indexes, constraints and rows, and what refers among them."""
        run = self._connection.execute
        run("CREATE SCHEMA floor")
        for table in TABLES:
            run(f"CREATE TABLE floor.{table} (LIKE public.{table} INCLUDING ALL)")
        for table in TABLES[:2]:
            run(f"INSERT INTO floor.{table} SELECT * FROM public.{table}")  # noqa: S608  constants
        references = run(
            "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE contype = 'f' AND connamespace = 'public'::regnamespace"
        ).fetchall()
        for table, definition in references:
            name = table.removeprefix("public.")
            if name in TABLES:
                run(f"ALTER TABLE floor.{name} ADD {definition.replace('public.', 'floor.')}")

    def close(self) -> None:
        self._connection.close()

    def subject(self) -> Subject:
        operations: dict[str, Prepare] = {
            "read": lambda amount: [self._read] * amount,
            "list": lambda amount: [self._list] * amount,
            "create 10": lambda amount: [partial(self._create, 10)] * amount,
            "create 100": lambda amount: [partial(self._create, 100)] * amount,
            "execute": self._issues,
        }
        return Subject("bare SQL", operations)

    def _read(self) -> None:
        for statement in (READ, READ_LINES, READ_TAX_ROWS):
            self._connection.execute(statement, [self._document_id]).fetchall()

    def _list(self) -> None:
        self._connection.execute(LIST).fetchall()

    def _issues(self, amount: int) -> list[Step]:
        return [partial(self._issue, self._create(10)) for _ in range(amount)]

    def _create(self, lines: int) -> UUID:
        document_id = uuid7()
        with self._recorded(document_id):
            run = self._connection.execute
            run(CUSTOMER, [self._references.customer_id]).fetchall()
            run(RATES, [list(self._references.tax_rate_ids)]).fetchall()
            run(WRITE_DOCUMENT, self._header(document_id))
            run(WRITE_LINES, [document_id, *self._columns(lines)])
            run(WRITE_TAX_ROW, [document_id, list(self._references.tax_rate_ids)])
        return document_id

    def _issue(self, document_id: UUID) -> None:
        with self._recorded(document_id):
            run = self._connection.execute
            run(LOCK_DRAFT, [document_id]).fetchall()
            run(READ_LINES, [document_id]).fetchall()
            [(value,)] = run(TAKE_NUMBER, [self._series]).fetchall()
            run(FREEZE, [f"F-{value:04d}", self._series, value, self._user, document_id])

    @contextmanager
    def _recorded(self, document_id: UUID) -> Iterator[None]:
        """Claim and answer a receipt and append an audit event, in the work's transaction."""
        receipt_id, run = uuid7(), self._connection.execute
        with self._connection.transaction():
            run(CLAIM, [receipt_id, self._agent_connection, str(receipt_id)])
            yield
            run(ANSWER, ["{}", receipt_id])
            [(sequence,)] = run(MOVE_HEAD, [CHAIN]).fetchall()
            run(RECORD, [uuid7(), CHAIN, sequence, str(document_id)])

    def _header(self, document_id: UUID) -> list[Any]:
        now = datetime.now(UTC)
        identity = ["invoice", "draft", str(document_id)[-10:], 1, self._references.customer_id]
        content = [TODAY, TODAY, "EUR", 2, "en", "Thank you for your order.", "PO 7", ""]
        return [
            document_id,
            *identity,
            *content,
            1000,
            0,
            190,
            1190,
            "",
            self._user,
            now,
            now,
            *[""] * 8,
        ]

    def _columns(self, lines: int) -> list[list[Any]]:
        items = make_draft_input(self._references, lines=lines)["line_items"]
        rows = [
            (
                *(uuid7(), position, item["description"], 15_000, item["unit"]),
                *(int(item["unit_price"]), item["discount_type"], int(item["discount_value"])),
                *(item["tax_rate_id"], 1875, 16_875),
            )
            for position, item in enumerate(items)
        ]
        return [list(column) for column in zip(*rows, strict=True)]
