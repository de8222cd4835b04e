"""What leaves: asked for at the page as a browser does, and read whole."""

from functools import partial
from typing import Any

from invoicing.exports.selection import Read, read_documents
from invoicing.models import Document, User

MARCH = {"first_day": "2026-03-01", "last_day": "2026-03-31"}


def ask(desk: Any, kind: str, **fields: str) -> Any:
    """Ask for the documents of March 2026, in a browser."""
    return desk.post("/exports", {**MARCH, "kind": kind, **fields})


def download(desk: Any, kind: str, **fields: str) -> bytes:
    answer = ask(desk, kind, **fields)
    assert answer.status_code == 200, answer.content.decode()
    return b"".join(answer)


def reading(person: User, *documents: Document) -> Read:
    """Return what reads these documents for an export, as long as the person may see them."""
    pks = [each.pk for each in documents]
    return partial(read_documents, pks, partial(User.objects.get, pk=person.pk))
