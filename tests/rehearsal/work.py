"""An agent that writes drafts, which are issued: what a backup must hold."""

import json

import psycopg

from tests.agents import Answer
from tests.servers.installation import Installation, Process

ISSUE = """
from django.utils import timezone
from invoicing.models import Document
from invoicing.services.issuing import issue_document
for each in {documents}:
    print(issue_document(Document.objects.get(pk=each), clock=timezone.now).number)
"""

# One text for the whole content of a table, whatever the order of its rows on the disk.
CONTENT = "SELECT md5(coalesce(string_agg(row, '' ORDER BY row), '')) FROM ({rows}) AS content"
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"

YEAR = 2026
LAST_NUMBER = "SELECT last_value FROM invoices_numberseries WHERE type = 'invoice' AND year = 2026"
NUMBERS = "SELECT number FROM invoices_document WHERE number IS NOT NULL ORDER BY number"
LIVE = "SELECT count(*) FROM agent_access_connection WHERE revoked_at IS NULL"


class Work:
    """Drafts and invoices that an agent and its person make, one after another."""

    def __init__(self, books: Installation, process: Process) -> None:
        self._books = books
        self._process = process
        [(self._customer,)] = books.query(
            "SELECT id FROM invoices_customer WHERE is_active ORDER BY id LIMIT 1"
        )
        [(self._rate,)] = books.query(
            "SELECT id FROM invoices_taxrate WHERE is_active ORDER BY id LIMIT 1"
        )
        _, self.credential = books.connect("Rehearsal")
        self._count = 0

    def write_draft(self, credential: str) -> Answer:
        self._count += 1
        line = {"description": "Consulting", "quantity": "1", "unit_price": "100"}
        body = {
            "customer_id": str(self._customer),
            "currency_code": "EUR",
            "issue_date": f"{YEAR}-11-21",
            "due_date": f"{YEAR}-12-21",
            "line_items": [{**line, "tax_rate_id": str(self._rate)}],
        }
        agent = self._process.agent(credential)
        return agent.call("drafts.create", body, key=f"rehearsal-{self._count}")

    def issue(self, count: int) -> list[str]:
        """Write so many drafts as the agent, issue them, and return their numbers."""
        answers = [self.write_draft(self.credential) for _ in range(count)]
        refused = [answer.status for answer in answers if answer.status != 201]
        if refused:
            raise RuntimeError(f"Drafts were refused with {refused}.")
        return issue_documents(self._books, [answer.data["id"] for answer in answers])


def execute(books: Installation, statements: str, *, role: str) -> None:
    """Run statements that give nothing back, and have transactions of their own."""
    with psycopg.connect(books.url(role), autocommit=True) as connection:
        connection.execute(statements.encode())


def issue_documents(books: Installation, documents: list[str]) -> list[str]:
    program = ISSUE.format(documents=json.dumps(documents))
    return books.manage("shell", "--no-imports", "--command", program).split()


def read_content(books: Installation) -> dict[str, str]:
    """Return a digest of each table."""
    return {
        table: books.query(CONTENT.format(rows=f'SELECT t::text AS row FROM "{table}" AS t'))[0][0]  # noqa: S608  a table of our own
        for (table,) in books.query(TABLES)
    }
