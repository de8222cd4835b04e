"""What must be so after a restore, step by step as docs/operations.md#after-a-restore has it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import psycopg
from psycopg import errors

from tests.rehearsal.lines import series_statements
from tests.rehearsal.work import (
    LAST_NUMBER,
    LIVE,
    YEAR,
    Work,
    execute,
    issue_documents,
    read_content,
)
from tests.servers.installation import OWNER_ROLE, SERVICE_ROLE, Installation


@dataclass(frozen=True)
class Backup:
    """What was at the moment: the heads of the audit, and a digest of each table."""

    moment: str
    heads: Path
    content: dict[str, str]


@dataclass
class Findings:
    """What was tried, and what was not as said; an empty text means that it was."""

    invoices: int
    restore_seconds: float
    tried: dict[str, str] = field(default_factory=dict)

    @property
    def are_clean(self) -> bool:
        return not any(self.tried.values())

    def note(self, promise: str, check: Callable[[], object]) -> None:
        """Try one promise; a check that raises says what is wrong."""
        try:
            check()
        except (AssertionError, RuntimeError, psycopg.Error) as error:
            self.tried[promise] = " ".join(str(error).split()) or type(error).__name__
        else:
            self.tried[promise] = ""

    def table(self) -> str:
        lines = [
            f"{self.invoices} invoices before the moment, as many after it, which are lost;",
            f"restored in {self.restore_seconds:.1f} seconds.",
            "",
            "| After the restore | |",
            "|---|---|",
            *(f"| {promise} | {wrong or 'yes'} |" for promise, wrong in self.tried.items()),
        ]
        return "\n".join(lines)


def require(is_so: object, words: object) -> None:
    if not is_so:
        raise AssertionError(words)


def check_restored(
    books: Installation,
    work: Work,
    backup: Backup,
    findings: Findings,
    *,
    later: list[str],
    later_heads: Path,
) -> None:
    """Try every step on the restored books, in the order of the document."""
    findings.note("every table is as it was at the moment", lambda: require_content(books, backup))
    findings.note("the audit has the heads of the moment", lambda: require_heads(books, backup))
    findings.note(
        "the newest heads name each chain that lost events",
        lambda: require_loss_is_named(books, later_heads),
    )
    findings.note("triggers, constraints and roles are in place", lambda: require_guards(books))
    findings.note("the switch ends every connection", lambda: require_all_ended(books, work))
    findings.note(
        "the series moves past the lost numbers", lambda: require_next_number(books, work, later)
    )
    findings.note(
        "the audit is whole, and new connections work, old ones not",
        lambda: require_work(books, work),
    )


def require_content(books: Installation, backup: Backup) -> None:
    now = read_content(books)
    differing = {
        table for table in {*now, *backup.content} if now.get(table) != backup.content.get(table)
    }
    require(not differing, f"differing tables: {sorted(differing)}")


def require_heads(books: Installation, backup: Backup) -> None:
    printed = books.manage("verify_audit", "--expect", str(backup.heads))
    require(printed == backup.heads.read_text(), "other heads were printed")


def require_loss_is_named(books: Installation, later_heads: Path) -> None:
    try:
        books.manage("verify_audit", "--expect", str(later_heads))
    except AssertionError as refusal:
        lost = set(later_heads.read_text().splitlines())
        lost -= set(books.manage("verify_audit").splitlines())
        chains = {line.split()[0] for line in lost}
        missing = [chain for chain in chains if chain not in str(refusal)]
        require(chains and not missing, f"not named: {missing}")
    else:
        raise AssertionError("events were lost and nothing was said")


def require_guards(books: Installation) -> None:
    books.manage("check", "--database", "default", "--fail-level", "WARNING")
    try:
        books.query("TRUNCATE invoices_document", role=SERVICE_ROLE)
    except errors.InsufficientPrivilege:
        return
    raise AssertionError("the service's role may empty a table")


def require_all_ended(books: Installation, work: Work) -> None:
    require(books.query(LIVE) != [(0,)], "no connection was alive")
    books.manage("agent_access", "off")
    require(books.query(LIVE) == [(0,)], "a connection is alive")
    status = work.write_draft(work.credential).status
    require(status == HTTPStatus.NOT_FOUND, f"while access is off, a call gets {status}")


def require_next_number(books: Installation, work: Work, later: list[str]) -> None:
    last = max(int(number.rpartition("-")[2]) for number in later)
    [(before,)] = books.query(LAST_NUMBER)
    require(before < last, f"the series is at {before} already")
    execute(books, series_statements(year=YEAR, last_number=last), role=OWNER_ROLE)
    [draft] = books.query("SELECT id::text FROM invoices_document WHERE status = 'draft' LIMIT 1")
    [number] = issue_documents(books, list(draft))
    require(int(number.rpartition("-")[2]) == last + 1, f"the next number is {number}")


def require_work(books: Installation, work: Work) -> None:
    books.manage("verify_audit")
    books.manage("agent_access", "on")
    status = work.write_draft(work.credential).status
    require(status == HTTPStatus.UNAUTHORIZED, f"a connection from before gets {status}")
    _, credential = books.connect("After the restore")
    status = work.write_draft(credential).status
    require(status == HTTPStatus.CREATED, f"a new connection gets {status}")
