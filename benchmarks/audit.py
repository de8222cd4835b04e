"""Measures a long audit: to verify it, whole and in parts, to archive it, and to remove that.

    python -m benchmarks.audit --events 20000000

fills a PostgreSQL of its own with events of true digests, of 40 connections over a year, and prints
a table with what each thing took, and the largest resident set of the process. `--events 20000` is
for a try. It ends with 1 if anything does not agree.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from uuid import UUID

import psycopg

from benchmarks.machine import describe_machine
from benchmarks.measured import measure
from benchmarks.scratch import sample_company

CONNECTIONS = 40
DAYS = 365
KEPT_DAYS = 92
COPIED_AT_ONCE = 100_000
COLUMNS = (
    *("id", "chain", "sequence", "occurred_at", "actor_id", "connection_id", "action", "target"),
    *("outcome", "detail", "transport", "request_id", "client_address", "digest"),
    "content_digest",
)
COPY = f"COPY agent_access_auditevent ({', '.join(COLUMNS)}) FROM STDIN"
ACTIONS = ("documents.get", "documents.list", "customers.search", "drafts.create")


@dataclass
class Chain:
    """The end of a chain that is being filled."""

    connection_id: UUID
    sequence: int = 0
    digest: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.audit", allow_abbrev=False)
    parser.add_argument("--events", type=int, default=2_000_000)
    events = parser.parse_args().events
    with sample_company() as cluster, tempfile.TemporaryDirectory() as folder:
        lines = measure_all(events, cluster.url(database="postgres"), Path(folder))
        for line in lines:
            print(line, flush=True)  # noqa: T201  the table
    return 0


def measure_all(events: int, url: str, folder: Path) -> Iterator[str]:
    """Yield the lines of the table; raises CalledProcessError where something does not agree."""
    yield ", ".join(describe_machine().values())
    yield ""
    yield f"| {events:,} events | seconds | events a second | MiB of memory | MiB written |"
    yield "|---|---|---|---|---|"
    begun = perf_counter()
    fill(events, url)
    yield _row("filled", events, perf_counter() - begun)
    size = _query(url, "SELECT pg_total_relation_size('agent_access_auditevent')")
    yield f"| table and indexes | | | | {size >> 20} |"
    heads = folder / "heads"
    yield _command("verified whole", events, ["verify_audit"], into=heads)
    yield _command("verified since then", 0, ["verify_audit", "--since", str(heads)])
    yield _parts(events)
    archive, day = folder / "archive.zip", datetime.now(UTC) - timedelta(days=KEPT_DAYS)
    old = _query(url, "SELECT count(*) FROM agent_access_auditevent WHERE occurred_at < %s", day)
    into = ["--before", f"{day:%Y-%m-%d}", "--into", str(archive)]
    yield _command(f"archived {old:,}", old, ["archive_audit", *into], written=archive)
    verifier = ["-m", "agent_access.evidence.verify_evidence", str(archive)]
    yield _run("archive verified by an auditor", old, verifier)
    yield _command(
        "archive verified, and removed", old, ["archive_audit", "--remove", str(archive)]
    )
    yield _command("the rest verified", events - old, ["verify_audit"])
    package = folder / "package.zip"
    export = ["export_evidence", str(package)]
    yield _command("a package of the rest", events - old, export, written=package)
    together = ["-m", "agent_access.evidence.verify_evidence", str(package)]
    yield _run("both verified together", events, [*together, "--archive", str(archive)])


def fill(events: int, url: str) -> None:
    """Write events with true digests, by the time, and the heads of their chains."""
    chains = [Chain(UUID(int=0x0190F1F0000070008000000000000000 + n)) for n in range(CONNECTIONS)]
    with psycopg.connect(url) as connection:
        for begin in range(0, events, COPIED_AT_ONCE):
            numbers = range(begin, min(begin + COPIED_AT_ONCE, events))
            with connection.cursor().copy(COPY) as copy:
                for row in _make_rows(chains, numbers, events):
                    copy.write_row(row)
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO agent_access_chainhead (chain, sequence, digest, is_open)"
                " VALUES (%s, %s, %s, true)",
                [(str(each.connection_id), each.sequence, each.digest) for each in chains],
            )
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE agent_access_auditevent")


def _make_rows(chains: list[Chain], numbers: range, events: int) -> Iterator[list[object]]:
    from agent_access.audit import digest_columns  # noqa: PLC0415  models are loaded by then

    first = datetime.now(UTC) - timedelta(days=DAYS)
    for number in numbers:
        chain = chains[number % len(chains)]
        event = {
            "id": UUID(bytes=sha256(b"%d" % number).digest()[:16], version=4),
            "chain": str(chain.connection_id),
            "sequence": chain.sequence + 1,
            "occurred_at": first + timedelta(days=DAYS) * number / events,
            "actor_id": UUID(int=1),
            "connection_id": chain.connection_id,
            "action": ACTIONS[number % len(ACTIONS)],
            "target": str(UUID(int=number)) if number % len(ACTIONS) else "",
            "outcome": "forbidden" if number % 25 == 0 else "ok",
            "detail": "",
            "transport": "http",
            "request_id": f"{number:032x}",
            "client_address": "192.0.2.1",
            "content_digest": None,
        }
        chain.digest = digest_columns(event, previous_digest=chain.digest)
        chain.sequence += 1
        event["digest"] = chain.digest
        yield [event[name] for name in COLUMNS]


def _parts(events: int) -> str:
    """Verify in two parts at once, as on two cores, and return the row of the table."""
    begun = perf_counter()
    command = [sys.executable, "manage.py", "verify_audit", "--part"]
    parts = [
        subprocess.Popen([*command, f"{part}/2"], stdout=subprocess.DEVNULL)  # noqa: S603  our own
        for part in (1, 2)
    ]
    failed = [each.wait() for each in parts]
    if any(failed):
        raise SystemExit("A part does not agree.")
    return _row("verified in two parts at once", events, perf_counter() - begun)


def _command(
    what: str,
    events: int,
    arguments: list[str],
    *,
    into: Path | None = None,
    written: Path | None = None,
) -> str:
    return _run(what, events, ["manage.py", *arguments], into=into, written=written)


def _run(
    what: str,
    events: int,
    arguments: list[str],
    *,
    into: Path | None = None,
    written: Path | None = None,
) -> str:
    """Run a command in a process of its own, and return its row of the table."""
    seconds, mebibytes, output = measure([sys.executable, *arguments])
    if into:
        into.write_text(output, encoding="utf-8")
    return _row(what, events, seconds, mebibytes, written.stat().st_size >> 20 if written else None)


def _row(
    what: str, events: int, seconds: float, mebibytes: float | None = None, size: int | None = None
) -> str:
    rate = f"{events / seconds:,.0f}" if events else ""
    memory = f"{mebibytes:.0f}" if mebibytes else ""
    return f"| {what} | {seconds:.1f} | {rate} | {memory} | {'' if size is None else size} |"


def _query(url: str, statement: str, *parameters: object) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute(statement.encode(), parameters).fetchone()
    return int(found[0]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
