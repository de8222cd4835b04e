"""What is measured: a subject does the same work as the others, in its own way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

MCP_VERSION = "2025-11-25"

Step = Callable[[], Any]
# Prepares that many steps; only their execution is measured.
Prepare = Callable[[int], list[Step]]
# Prepares that many steps for each of so many clients.
PrepareClients = Callable[[int, int], list[list[Step]]]


@dataclass(frozen=True)
class Subject:
    """A server or a way of working; `cpu_seconds` is None where there is no server process."""

    name: str
    operations: Mapping[str, Prepare]
    cpu_seconds: Callable[[], float] | None = None


@dataclass(frozen=True, kw_only=True)
class References:
    """The records that a draft names."""

    customer_id: str
    tax_rate_ids: tuple[str, ...]


def make_draft_input(references: References, *, lines: int) -> dict[str, Any]:
    """Return a draft input that the product and its peers take alike."""
    rates = references.tax_rate_ids
    return {
        "customer_id": references.customer_id,
        "currency_code": "EUR",
        "issue_date": f"{date.today():%Y-%m-%d}",  # noqa: DTZ011  any day will do
        "due_date": f"{date.today():%Y-%m-%d}",  # noqa: DTZ011  as above
        "line_items": [
            {
                "description": f"Consulting on site, part {number}",
                "quantity": "1.5",
                "unit_price": str(12_500 + number),
                "unit": "h",
                "discount_type": "percent",
                "discount_value": "1000",
                "tax_rate_id": rates[number % len(rates)],
            }
            for number in range(lines)
        ],
        "language": "en",
        "notes": "Thank you for your order.",
        "reference": "PO 7",
    }


def make_mcp_read(document_id: str) -> dict[str, Any]:
    """Return the message that reads a document."""
    params = {"name": "documents_get", "arguments": {"id": document_id}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
