"""What a driver writes down: a line of JSON for each thing that it did or was told."""

import json
import threading
import time
from pathlib import Path
from typing import Any

Note = dict[str, Any]


class Diary:
    """Appends to a file; every note has its `kind` and the time `at`, in seconds since 1970."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def note(self, kind: str, **facts: Any) -> None:
        line = json.dumps({"kind": kind, "at": time.time(), **facts})
        with self._lock:
            self._file.write(f"{line}\n")
            self._file.flush()

    def read(self) -> list[Note]:
        """Return all notes, in the order in which they were made."""
        return [json.loads(line) for line in self._path.read_text(encoding="utf-8").splitlines()]

    def close(self) -> None:
        self._file.close()


def of_kind(notes: list[Note], kind: str) -> list[Note]:
    return [note for note in notes if note["kind"] == kind]
