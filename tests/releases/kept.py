"""The databases that are kept of releases, and what each release promised.

Of a release there are, for each database, a dump in SQL, a JSON object of promises that
`tests.releases.company` describes, and a package of evidence if that release made them.
`tests.releases.make` keeps them.
"""

import json
import lzma
import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

FOLDER = Path(__file__).parent / "kept"
DUMP, PROMISES, EVIDENCE = "{}.sql.xz", "{}.json.xz", "{}.zip"


def find_releases() -> list[str]:
    """Return the names of the releases; with RELEASES=all in the environment also before 1.0.0."""
    names = sorted(folder.name for folder in FOLDER.iterdir())
    return names if os.environ.get("RELEASES") == "all" else [n for n in names if n[0].isdigit()]


class Release:
    """What is kept of one release on one database: "sqlite" or "postgresql"."""

    def __init__(self, name: str, database: str) -> None:
        self.name, self.database = name, database
        self.promises: dict[str, Any] = json.loads(self._read(PROMISES))
        self.made_at = datetime.fromisoformat(self.promises["made_at"])

    @property
    def evidence(self) -> Path | None:
        """The package of evidence that the release made."""
        file = FOLDER / self.name / EVIDENCE.format(self.database)
        return file if file.exists() else None

    def restore_into_file(self, file: Path) -> None:
        """Make an SQLite database."""
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(self._read(DUMP).decode())

    def restore_into_server(self, address: str) -> None:
        """Fill an empty PostgreSQL database."""
        with psycopg.connect(address) as connection:
            connection.execute(self._read(DUMP))

    def _read(self, name: str) -> bytes:
        return lzma.decompress((FOLDER / self.name / name.format(self.database)).read_bytes())
