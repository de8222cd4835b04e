"""Multiplies the invoices of a kept database by SQL, whatever release it is of.

A copy has IDs, numbers and draft codes of its own and is else as its original. Triggers and foreign
keys are put aside, and constraints hold. The chains of the audit are copied without digests that
would agree: no migration reads them.
"""

from collections.abc import Mapping

import psycopg

# Copies of rows of each table, by how much of it is another in each copy number k.
COPIED_ID = "md5({}::text || k)::uuid"
DOCUMENTS = {
    "id": COPIED_ID.format("id"),
    "draft_code": "'D-' || lpad(to_hex(row_number() OVER ()), 8, '0')",
    "number": "CASE WHEN number IS NOT NULL THEN 'L-' || row_number() OVER () END",
    "series_value": "CASE WHEN number IS NOT NULL THEN 10000 + row_number() OVER () END",
}
PARTS = {"id": COPIED_ID.format("id"), "document_id": COPIED_ID.format("document_id")}
APPROVALS = {"id": COPIED_ID.format("id"), "target": COPIED_ID.format("target")}
EVENTS = {"id": COPIED_ID.format("id"), "chain": "md5(chain || k)::uuid::text"}
WORDS = {"record": "uuid_send(md5(encode(record, 'hex')::uuid::text || k)::uuid)"}

INVOICES = "SELECT id FROM invoices_document WHERE type = 'invoice'"
OF_INVOICES = f"document_id IN ({INVOICES})"
TARGETS = f"target IN ({INVOICES})"


def enlarge(url: str, documents: int, *, with_words: bool) -> dict[str, int]:
    """Copy all invoices until there are about so many documents; return the counts of rows."""
    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")
        [invoices] = _read(
            connection, "SELECT count(*) FROM invoices_document WHERE type = 'invoice'"
        )
        copies = max(documents // invoices - 1, 0)
        for table in ("invoices_line", "invoices_taxrow"):
            _copy(connection, table, PARTS, OF_INVOICES, copies)
        _copy(connection, *_approvals(connection), copies)
        _copy(connection, "agent_access_auditevent", EVENTS, "true", copies)
        if with_words:
            word = "encode(record, 'hex')::uuid"
            _copy(connection, "invoices_searchword", WORDS, f"{word} IN ({INVOICES})", copies)
        _copy(connection, "invoices_document", DOCUMENTS, "type = 'invoice'", copies)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        [documents] = _read(connection, "SELECT count(*) FROM invoices_document")
        [events] = _read(connection, "SELECT count(*) FROM agent_access_auditevent")
    return {"documents": documents, "events": events}


def _approvals(connection: psycopg.Connection) -> tuple[str, Mapping[str, str], str]:
    """Return the table of approvals, which had another name before 1.0.0, and what is copied."""
    former = "invoices_issueapproval"
    if _read(connection, f"SELECT to_regclass('{former}')")[0]:
        return former, PARTS, OF_INVOICES
    return "agent_approvals_approvalrequest", APPROVALS, TARGETS


def _copy(
    connection: psycopg.Connection,
    table: str,
    changes: Mapping[str, str],
    which: str,
    copies: int,
) -> None:
    found = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table]
    ).fetchall()
    columns = [name for (name,) in found]
    into = ", ".join(columns)
    values = ", ".join(changes.get(name, name) for name in columns)
    connection.execute(
        f"INSERT INTO {table} ({into}) SELECT {values} FROM {table},"  # noqa: S608  constants only
        f" generate_series(1, {copies}) k WHERE {which}".encode()
    )


def _read(connection: psycopg.Connection, query: str) -> tuple[int, ...]:
    row = connection.execute(query.encode()).fetchone()
    if row is None:
        raise LookupError(query)
    return row
