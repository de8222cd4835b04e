"""A client's own log: one line before a call, one after every attempt, never changed."""

import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.utils.functional import cached_property

from tests.breaking.wire import OK, UNAVAILABLE, Call, Reply

BEGUN, ATTEMPTED, DECIDED, SURPRISED = "begun", "attempted", "decided", "surprised"
CORRECTED = "corrected"


class Journal:
    """Appends to the file of one client; a line is on its way to the disk when a call returns."""

    def __init__(self, path: Path, *, connection_id: str) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._connection_id = connection_id
        self._lock = threading.Lock()

    def begin(self, call: Call) -> None:
        self._write(BEGUN, key=call.key, call=asdict(call))

    def note(self, call: Call, reply: Reply, *, is_double: bool) -> None:
        self._write(ATTEMPTED, key=call.key, reply=asdict(reply), is_double=is_double)

    def note_decision(self, approval_id: str, decision: str, *, is_repeated: bool) -> None:
        self._write(DECIDED, approval_id=approval_id, decision=decision, is_repeated=is_repeated)

    def note_correction(self, document_id: str) -> None:
        self._write(CORRECTED, document_id=document_id)

    def note_surprise(self, what: str) -> None:
        self._write(SURPRISED, what=what)

    def _write(self, kind: str, **facts: Any) -> None:
        line = json.dumps({"kind": kind, "connection_id": self._connection_id, **facts})
        with self._lock:
            self._file.write(f"{line}\n")
            self._file.flush()

    def close(self) -> None:
        self._file.close()


@dataclass
class Operation:
    """One key of one connection: what was meant, and every reply in the order it came."""

    connection_id: str
    call: Call
    replies: list[Reply] = field(default_factory=list)
    doubled: int = 0

    @cached_property
    def result(self) -> dict[str, Any] | None:
        """What a success told, or None where there was none."""
        return next((reply.data for reply in self.replies if reply.outcome == OK), None)

    @property
    def is_answered(self) -> bool:
        return any(reply.is_answer for reply in self.replies)

    @property
    def interruption(self) -> str:
        """Why the first attempt told nothing, or nothing where it was answered."""
        first = self.replies[0] if self.replies else Reply(outcome=UNAVAILABLE)
        return "" if first.is_answer else first.outcome


@dataclass
class Testimony:
    """What all clients wrote down."""

    __test__ = False

    operations: dict[tuple[str, str], Operation] = field(default_factory=dict)
    decisions: dict[str, str] = field(default_factory=dict)
    # The credit notes that people were told to have issued.
    corrections: list[str] = field(default_factory=list)
    repeated_decisions: int = 0
    surprises: list[str] = field(default_factory=list)

    def successes(self, tool: str) -> Iterator[tuple[Operation, dict[str, Any]]]:
        """Yield the operations of a tool that were told to be done, with what was told."""
        for operation in self.operations.values():
            if operation.call.tool == tool and operation.result is not None:
                yield operation, operation.result


def read_testimony(folder: Path) -> Testimony:
    """Read the logs of all clients."""
    told = Testimony()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            _take(told, json.loads(line))
    return told


def _take(told: Testimony, line: dict[str, Any]) -> None:
    if line["kind"] == SURPRISED:
        told.surprises.append(line["what"])
    elif line["kind"] == CORRECTED:
        told.corrections.append(line["document_id"])
    elif line["kind"] == DECIDED:
        told.decisions[line["approval_id"]] = line["decision"]
        told.repeated_decisions += line["is_repeated"]
    elif line["kind"] == BEGUN:
        place = line["connection_id"], line["key"]
        told.operations[place] = Operation(line["connection_id"], Call(**line["call"]))
    else:
        operation = told.operations[line["connection_id"], line["key"]]
        operation.replies.append(Reply(**line["reply"]))
        operation.doubled += line["is_double"]
