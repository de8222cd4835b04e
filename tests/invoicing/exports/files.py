"""What leaves: asked for at the page as a browser does, and read whole."""

from typing import Any

MARCH = {"first_day": "2026-03-01", "last_day": "2026-03-31"}


def ask(desk: Any, kind: str, **fields: str) -> Any:
    """Ask for the documents of March 2026, in a browser."""
    return desk.post("/exports", {**MARCH, "kind": kind, **fields})


def download(desk: Any, kind: str, **fields: str) -> bytes:
    answer = ask(desk, kind, **fields)
    assert answer.status_code == 200, answer.content.decode()
    return b"".join(answer)
