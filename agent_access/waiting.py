"""What waits for a person's decision, whichever app asks it: who hears of it, and what they read.

An app that asks people registers a `Subject`, and sends `asked` inside the transaction that stores
its question. An app that tells people listens (`agent_access.telling`, where it is installed): what
it writes stands or falls with the question, and if it fails, so does the question.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from django.dispatch import Signal

from agent_access.visible_text import mark_invisible

__all__ = [
    "Question",
    "Subject",
    "Tally",
    "TextFile",
    "Told",
    "asked",
    "missed",
    "shorten_name",
    "subjects",
    "tallies",
]

TOLD_NAME_LENGTH = 40
# For how long people read that they missed something.
MISSED_FOR = timedelta(days=7)


@dataclass(frozen=True, kw_only=True)
class Question:
    """That a person was asked something, perhaps by a connection, and until when they can decide.

    `subject` names the Subject, and `pk` its record. Of questions with the same `tag` only the last
    one matters, such as those of one record and connection. It is no secret, of at most 100 ASCII
    letters, digits, "-" and ":".
    """

    subject: str
    pk: UUID
    person_id: Any
    connection_id: UUID | None
    tag: str
    expires_at: datetime


@dataclass(frozen=True)
class TextFile:
    """A file that a mail brings along; notifications have no room for it."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a person reads of a question: no text of an agent, and of the record only in `details`.

    `details` is shown where the person has chosen to read it: "Ayu Ltd, 1,190.00 EUR". `path`
    begins with a slash and leads to where it is decided.
    """

    title: str
    sentence: str
    details: str
    path: str
    expires_at: datetime
    file: TextFile | None = None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How much waits for a person's decision now, and how much expired before they decided."""

    waiting: int
    missed: int


class Subject(Protocol):
    """What can be asked: how its questions read to a person, as long as they can decide them."""

    def tell(self, pk: UUID, person: Any, *, now: datetime) -> Told | None:
        """Return what the person reads of it; None if it is decided, over, or out of sight."""

    def find_pending(self, person: Any, *, now: datetime) -> Iterable[Told]:
        """Return what waits for the person and is on no page of approvals, the first to end first.

        It is shown above the inbox of approvals, and counted with it.
        """


# By name, as `Question.subject` says it. Apps register theirs when they are ready.
subjects: dict[str, Subject] = {}

# Functions that count, by the key of the person, what expired since an instant without a decision.
missed: list[Callable[[datetime], Mapping[Any, int]]] = []

# Functions that count what waits for a person, and what they missed since an instant.
tallies: list[Callable[[Any, datetime], Tally]] = []

# Sent inside the transaction that stores a question, with `question`; a failure undoes both.
asked = Signal()


def shorten_name(name: str) -> str:
    """Return a name as a notification has room for it: 40 characters, none of them invisible."""
    told = mark_invisible(name)
    return told if len(told) <= TOLD_NAME_LENGTH else f"{told[: TOLD_NAME_LENGTH - 1].rstrip()}…"
