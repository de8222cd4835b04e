"""A peer: FastMCP, stateless with JSON answers, reading the product's own tables."""

import hashlib
import os
from datetime import UTC, datetime
from typing import Any

import psycopg
from fastmcp import FastMCP
from fastmcp.server.auth import AccessToken, TokenVerifier
from psycopg.rows import dict_row
from typing_extensions import override

CONNECTION = """
    SELECT id, user_id, grants, expires_at FROM agent_access_connection
    WHERE credential_digest = %s AND revoked_at IS NULL
"""
DOCUMENT = """
    SELECT id, type, status, number, draft_code, customer_id, issue_date, due_date, currency_code,
           minor_unit, net_total::text, discount_total::text, tax_total::text, grand_total::text,
           lock_version, connection_id, language, notes, reference, issued_at
    FROM invoices_document WHERE id = %s
"""
LINES = """
    SELECT description, quantity_ten_thousandths, unit, unit_price::text, discount_type,
           discount_value::text, tax_rate_id, discount_amount::text, net_amount::text
    FROM invoices_line WHERE document_id = %s ORDER BY position
"""
TAX_ROWS = """
    SELECT tax_rate_id, name, percentage_ten_thousandths, taxable_amount::text, tax_amount::text
    FROM invoices_taxrow WHERE document_id = %s ORDER BY position
"""


class Database:
    """One connection, opened in the server's own event loop."""

    _connection: psycopg.AsyncConnection[dict[str, Any]] | None = None

    async def fetch(self, query: str, key: str) -> list[dict[str, Any]]:
        if self._connection is None:
            self._connection = await psycopg.AsyncConnection.connect(
                os.environ["DATABASE_URL"],
                autocommit=True,
                prepare_threshold=1,
                row_factory=dict_row,
            )
        cursor = await self._connection.execute(query, [key])
        return await cursor.fetchall()


database = Database()


class ConnectionVerifier(TokenVerifier):
    """Looks a credential up by its digest, as the product does."""

    @override
    async def verify_token(self, token: str) -> AccessToken | None:
        rows = await database.fetch(CONNECTION, hashlib.sha256(token.encode()).hexdigest())
        if not rows or rows[0]["expires_at"] <= datetime.now(UTC):
            return None
        return AccessToken(token=token, client_id=str(rows[0]["id"]), scopes=rows[0]["grants"])


server = FastMCP("peer", auth=ConnectionVerifier())


@server.tool
async def documents_get(id: str) -> dict[str, Any]:  # noqa: A002  the interface's word
    """Read a document with its lines and taxes."""
    [document] = await database.fetch(DOCUMENT, id)
    document["line_items"] = await database.fetch(LINES, id)
    document["tax_breakdown"] = await database.fetch(TAX_ROWS, id)
    return {"data": document}


application = server.http_app(stateless_http=True, json_response=True)
