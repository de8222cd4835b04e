"""Old events leave for a file, and file and database together still prove the whole audit."""

import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from agent_access import verification
from agent_access.audit import OPERATOR, Fact, Origin, record_act, record_refusal
from agent_access.evidence import archives
from agent_access.evidence.files import new_file
from agent_access.evidence.verify_evidence import examine, verify
from agent_access.management.commands.archive_audit import YOUNGEST
from agent_access.models import ArchiveMark, AuditEvent, ChainHead
from agent_access.models.audit import ADMINISTRATION, Transport
from agent_access.verification import WHOLE, Break, Part, Position, find_breaks, prove, read_heads
from invoicing.access import Permission
from invoicing.evidence.checks import Outcome, check
from invoicing.evidence.history import read_history
from invoicing.models import Document
from tests.agent_access.tampering import run_sql
from tests.evidence.packages import read_files, read_part, write_files, write_with_manifest
from tests.factories import UserFactory
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

NOT_OLD = "it is not of before the day of its archive"
MISSING = "an event is missing here"
REWRITTEN = "the chain is not the one whose head was kept elsewhere"


def run(*arguments: object) -> str:
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


def assert_refused(sentence: str, *arguments: object) -> None:
    with pytest.raises(CommandError) as refused:
        run(*arguments)
    assert str(refused.value).startswith(sentence)


@pytest.fixture(autouse=True)
def long_ago(time_machine) -> None:
    """Begin where nothing is young by the database's clock either, which no test moves."""
    time_machine.move_to(timezone.now() - timedelta(days=1000))


@pytest.fixture
def days_later(time_machine) -> Callable[[int], str]:
    """Return what lets days pass, and returns the day from which on nothing was written yet."""

    def pass_by(days: int) -> str:
        tomorrow = f"{timezone.now() + timedelta(days=1):%Y-%m-%d}"
        time_machine.move_to(timezone.now() + timedelta(days=days))
        return tomorrow

    return pass_by


@pytest.fixture
def events(agent) -> None:
    """A chain of administration and one of a connection, where no record matters."""
    for _ in range(3):
        agent.call("tools.list")


@pytest.fixture
def archive(tmp_path) -> Callable[..., Path]:
    """Return what writes an archive, and returns its path."""

    def write(day: str, name: str = "archive.zip") -> Path:
        file: Path = tmp_path / name
        run("archive_audit", "--before", day, "--into", file)
        return file

    return write


def go_on() -> None:
    """Append to each chain, as a service does that goes on."""
    with transaction.atomic():
        record_act("x:y", OPERATOR)
        for chain in ChainHead.objects.exclude(chain=ADMINISTRATION).values_list(
            "chain", flat=True
        ):
            origin = Origin(transport=Transport.HTTP)
            record_refusal(Fact(action="x.y", origin=origin, connection_id=UUID(chain)))


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def problems(file: Path, *before: Path, heads: Path | None = None) -> list[str]:
    kept = str(heads) if heads else None
    report, code = verify(str(file), None, kept, [str(each) for each in before])
    found = [line for line in report.splitlines() if "PROBLEM  " in line]
    assert code == bool(found), report
    return [line.removeprefix("PROBLEM  ") for line in found]


def test_an_archive_is_verified_by_itself_and_closed_to_others(events, days_later, archive):
    count = AuditEvent.objects.count()
    file = archive(days_later(200))
    report, code = verify(str(file), None, None)
    assert (code, report[:26]) == (0, "An archive of the audit of")
    assert f"{count} events in 2 chains were checked." in report
    assert "It tells of no record, approval or signature" in report
    assert file.stat().st_mode & 0o777 == 0o600
    kept = {chain: at for chain, at in read_heads().items() if at.sequence}
    told = "".join(f"{chain} {at.sequence} {at.digest}\n" for chain, at in kept.items())
    assert read_files(file)["heads.txt"].decode() == told


def test_an_archive_ends_with_the_last_event_of_before_the_day(events, days_later, archive):
    day = days_later(100)
    go_on()
    days_later(100)
    rows = read_part(archive(day), "events.jsonl")
    assert len(rows) == AuditEvent.objects.count() - 2
    assert all(row["occurred_at"] < day for row in rows)


def test_a_broken_chain_is_not_archived(events, days_later, archive, tmp_path):
    day = days_later(200)
    chain = AuditEvent.objects.exclude(chain=ADMINISTRATION)[0].chain
    run_sql(
        "UPDATE agent_access_auditevent SET detail = 'x' WHERE chain = %s AND sequence = 2", chain
    )
    file = tmp_path / "archive.zip"
    sentence = f"The chain is broken: {chain} 2: this event was changed or moved"
    assert_refused(sentence, "archive_audit", "--before", day, "--into", file)
    assert not file.exists()


def test_wrong_days_and_files_are_refused(events, days_later, tmp_path, export):
    file = tmp_path / "archive.zip"
    today = f"{timezone.now():%Y-%m-%d}"
    young = "Argument --before: events are kept for 90 days at least."
    assert_refused(young, "archive_audit", "--before", today, "--into", file)
    no_day = "Argument --before: not a day such as 2026-01-01."
    assert_refused(no_day, "archive_audit", "--before", "yesterday", "--into", file)
    nothing = "No event is from before 2000-01-01."
    assert_refused(nothing, "archive_audit", "--before", "2000-01-01", "--into", file)
    two_ways = "Say --before DAY --into FILE.zip, or --remove FILE.zip."
    for arguments in (
        [],
        ["--before", "2000-01-01"],
        ["--into", file],
        ["--before", "2000-01-01", "--into", file, "--remove", file],
    ):
        assert_refused(two_ways, "archive_audit", *arguments)
    assert not file.exists()
    gone = f"{file} cannot be read: No such file or directory."
    assert_refused(gone, "archive_audit", "--remove", file)
    file.write_bytes(b"PK")
    assert_refused(f"{file} does not pass the verifier:", "archive_audit", "--remove", file)
    evidence = export()
    no_archive = f"{evidence} is evidence, but no archive."
    assert_refused(no_archive, "archive_audit", "--remove", evidence)


@pytest.mark.sqlite
def test_nothing_is_removed_on_sqlite(events, days_later, archive):
    file = archive(days_later(200))
    before = AuditEvent.objects.count()
    sentence = "Events are removed on PostgreSQL only."
    assert_refused(sentence, "archive_audit", "--remove", file)
    with pytest.raises(DatabaseError, match="never archived on SQLite"), transaction.atomic():
        mark(AuditEvent.objects.get(chain=ADMINISTRATION, sequence=1))
    assert AuditEvent.objects.count() == before


def mark(event: AuditEvent, **values: Any) -> ArchiveMark:
    """Mark the event as the last one of an archive, as nothing else would."""
    told = {"chain": event.chain, "sequence": event.sequence, "digest": event.digest}
    told |= {"before": event.occurred_at + timedelta(microseconds=1), "file_digest": "0" * 64}
    return ArchiveMark.objects.create(archived_at=timezone.now(), **told | values)


def with_day(archive: Path, day: datetime, name: str = "told.zip") -> Path:
    """Write an archive that is another one, but for the day that it tells."""
    files = read_files(archive)
    manifest = json.loads(files["manifest.json"])
    manifest["archive"]["before"] = day.isoformat()
    files["manifest.json"] = json.dumps(manifest).encode()
    return write_files(archive.with_name(name), files)


def read_clock() -> datetime:
    """Return the time by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        moment: datetime = cursor.fetchone()[0]
        return moment


def test_the_verifier_demands_that_the_day_is_after_all_events_and_before_the_archive(
    events, days_later, archive
):
    file = archive(days_later(200))
    last = AuditEvent.objects.latest("occurred_at")
    assert problems(with_day(file, last.occurred_at + timedelta(microseconds=1))) == []
    told = problems(with_day(file, last.occurred_at))
    assert f"{last.chain} {last.sequence}: {NOT_OLD}" in told
    to_come = timezone.now() + timedelta(days=1)
    sentence = "an archive says that it is of before a day to come"
    assert problems(with_day(file, to_come)) == [sentence]
    assert_refused(
        f"{file.parent}/told.zip does not pass the verifier: {sentence}.",
        *("archive_audit", "--remove", file.parent / "told.zip"),
    )


@pytest.mark.parametrize("day", ["x", None, "2026-01-01"])
def test_an_archive_without_a_moment_is_refused(events, days_later, archive, day):
    file = archive(days_later(200))
    files = read_files(file)
    manifest = json.loads(files["manifest.json"]) | {"archive": {"before": day}}
    write_files(file, files | {"manifest.json": json.dumps(manifest).encode()})
    assert_refused(f"{file} does not pass the verifier:", "archive_audit", "--remove", file)


@pytest.mark.postgresql
class TestRemoval:
    """On PostgreSQL, by the owner of the tables, as whom these tests run."""

    def test_archive_and_package_prove_the_whole_audit(
        self, books, days_later, archive, export, tmp_path
    ):
        heads = tmp_path / "heads"
        heads.write_text(run("verify_audit"), encoding="utf-8")
        before = AuditEvent.objects.count()
        file = archive(days_later(200))
        assert run("archive_audit", "--remove", file) == f"{before} events were removed.\n"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        [told] = AuditEvent.objects.values_list("action", "detail")
        day = json.loads(read_files(file)["manifest.json"])["archive"]["before"][:10]
        assert told == ("audit:archived", f"{before} events before {day}, SHA-256 {digest}")
        go_on()
        assert list(find_breaks()) == []

        package = export()
        assert problems(package, file) == []
        assert problems(package, file, heads=heads) == []
        report, code = verify(str(package), None, None)
        assert code == 1
        assert report == (
            "This is no package that can be verified: its audit begins behind archives, which"
            " --archive has to name as well, the oldest first: the files with the SHA-256"
            f" {digest}."
        )
        assert problems(file, heads=heads) == []

    def test_archives_go_on_where_the_last_one_ended(self, books, days_later, archive, export):
        first = archive(days_later(200), "first.zip")
        run("archive_audit", "--remove", first)
        go_on()
        second = archive(days_later(200), "second.zip")
        run("archive_audit", "--remove", second)
        go_on()
        package = export()
        assert list(find_breaks()) == []
        assert problems(second) == []
        assert problems(package, first, second) == []
        apart = "it does not go on where the archive before it ended"
        assert any(apart in each for each in problems(package, first))
        assert any(apart in each for each in problems(package, second, first))
        assert problems(package, second) != []
        assert run("archive_audit", "--remove", first) == "0 events were removed.\n"

    def test_an_archive_that_does_not_go_on_where_the_last_one_ended_is_refused(
        self, events, days_later, archive
    ):
        first = archive(days_later(200), "first.zip")
        go_on()
        both = archive(days_later(200), "both.zip")
        run("archive_audit", "--remove", first)
        assert_refused("The archive does not go on", "archive_audit", "--remove", both)

    def test_what_was_broken_off_is_finished_by_another_run(
        self, books, days_later, archive, export, monkeypatch
    ):
        file, chains = archive(days_later(200)), iter(range(1))
        monkeypatch.setattr(archives, "REMOVED_AT_ONCE", 2)
        remove = archives._remove

        def remove_one_chain(chain: str, last: int) -> int:
            if next(chains, None) is None:
                raise KeyboardInterrupt
            return remove(chain, last)

        monkeypatch.setattr(archives, "_remove", remove_one_chain)
        with pytest.raises(CommandError, match="Stopped"):
            run("archive_audit", "--remove", file)
        assert AuditEvent.objects.count() > 1
        assert list(find_breaks()) == []
        assert problems(export(), file) == []
        monkeypatch.undo()
        run("archive_audit", "--remove", file)
        assert set(AuditEvent.objects.values_list("action", flat=True)) == {
            "audit:archived",
            "export:begun",
            "export:finished",
        }
        assert list(find_breaks()) == []
        assert AuditEvent.objects.filter(action="audit:archived").count() == 1

    def test_what_was_broken_off_is_finished_after_later_archives_too(
        self, events, days_later, archive, monkeypatch
    ):
        first = archive(days_later(200), "first.zip")
        there = AuditEvent.objects.count()
        with monkeypatch.context() as patch:
            patch.setattr(archives, "_remove", interrupt)
            assert_refused("Stopped", "archive_audit", "--remove", first)
        second = archive(days_later(200), "second.zip")  # of the chain of administration alone
        assert run("archive_audit", "--remove", second) != "0 events were removed.\n"
        assert run("archive_audit", "--remove", first).endswith(" events were removed.\n")
        assert AuditEvent.objects.exclude(chain=ADMINISTRATION).count() == 0 < there
        assert list(find_breaks()) == []

    def test_what_is_leaving_is_not_called_wrong(self, books, days_later, archive, monkeypatch):
        remove = archives._remove
        monkeypatch.setattr(archives, "_remove", lambda *_: 0)
        run("archive_audit", "--remove", archive(days_later(200)))
        issued = Document.objects.exclude(number=None)
        for last in range(1, max(AuditEvent.objects.values_list("sequence", flat=True))):
            for chain in ChainHead.objects.values_list("chain", flat=True):
                remove(chain, last)
            for document in issued:
                assert check(document, read_history(document)).events != Outcome.WRONG

    @pytest.mark.parametrize("part", [WHOLE, Part(1, 1000)], ids=["whole", "in parts"])
    @pytest.mark.parametrize("moment", ["read_marks", "_read_batch"])
    def test_a_removal_during_the_proof_breaks_nothing(
        self, events, days_later, archive, monkeypatch, moment, part
    ):
        """It begins when the marks were read, or when a part of a chain was walked."""
        heads, file = read_heads(), archive(days_later(200))
        read = getattr(verification, moment)

        def read_and_remove(*arguments: Any, **options: Any) -> Any:
            found = read(*arguments, **options)
            monkeypatch.setattr(verification, moment, read)
            run("archive_audit", "--remove", file)
            return found

        monkeypatch.setattr(verification, "BATCH_SIZE", 2)
        monkeypatch.setattr(verification, moment, read_and_remove)
        proof = prove(heads, part=part)
        assert AuditEvent.objects.count() == 1
        assert (proof.breaks, proof.ends) == ([], read_heads())

    def test_what_was_changed_is_named_as_long_as_it_is_here(self, events):
        last = AuditEvent.objects.filter(chain=ADMINISTRATION).latest("sequence")
        mark(last)
        run_sql(
            "UPDATE agent_access_auditevent SET detail = 'x' WHERE chain = %s AND sequence = 1",
            ADMINISTRATION,
        )
        changed = "this event was changed or moved, or follows one that was"
        assert list(find_breaks()) == [Break(ADMINISTRATION, 1, changed)]

    def test_a_gap_behind_an_archive_is_named(self, events, days_later, archive):
        run("archive_audit", "--remove", archive(days_later(200)))
        for _ in range(3):
            go_on()
        end = ArchiveMark.objects.exclude(chain=ADMINISTRATION).get()
        for removed, named in ((2, 2), (1, 1)):
            run_sql(
                "DELETE FROM agent_access_auditevent WHERE chain = %s AND sequence = %s",
                *(end.chain, end.sequence + removed),
            )
            assert list(find_breaks()) == [Break(end.chain, end.sequence + named, MISSING)]

    def test_a_head_of_the_last_archived_event_is_compared_and_an_older_one_told(
        self, events, days_later, archive
    ):
        run("archive_audit", "--remove", archive(days_later(200)))
        end = ArchiveMark.objects.exclude(chain=ADMINISTRATION).get()
        kept = {end.chain: Position(end.sequence, end.digest)}
        assert (prove(kept).breaks, prove(kept).archived) == ([], 0)
        forged = {end.chain: Position(end.sequence, "0" * 64)}
        assert prove(forged).breaks == [Break(end.chain, end.sequence, REWRITTEN)]
        older = {end.chain: Position(1, "0" * 64)}
        assert (prove(older).breaks, prove(older).archived) == ([], 1)

    def test_a_forged_archive_is_found(self, events, days_later, archive, export, tmp_path):
        file = archive(days_later(200))
        run("archive_audit", "--remove", file)
        package, files = export(), read_files(file)
        lines = files["events.jsonl"].splitlines(keepends=True)
        files["events.jsonl"] = b"".join([*lines[:3], *lines[4:]])
        forged = write_with_manifest(tmp_path / "forged.zip", files)
        assert any(MISSING in each for each in problems(package, forged))
        assert_refused(f"{forged} does not pass", "archive_audit", "--remove", forged)

    def test_no_event_is_removed_without_a_mark(self, events):
        event = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("-sequence")[0]
        earlier = AuditEvent.objects.get(chain=ADMINISTRATION, sequence=event.sequence - 1)
        mark(earlier)
        for kept in (event, AuditEvent.objects.exclude(chain=ADMINISTRATION)[0]):
            with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
                kept.delete()
        earlier.delete()
        assert not AuditEvent.objects.filter(pk=earlier.pk).exists()

    @pytest.mark.parametrize("values", [{"digest": "0" * 64}, {"sequence": 999}, {"chain": "x"}])
    def test_a_mark_is_that_of_an_event(self, events, values):
        event = AuditEvent.objects.get(chain=ADMINISTRATION, sequence=1)
        with pytest.raises(DatabaseError, match="event with this digest"), transaction.atomic():
            mark(event, **values)

    def test_events_of_the_last_90_days_always_stay(self, events, time_machine, tmp_path):
        before = AuditEvent.objects.count()
        time_machine.move_to(datetime.now(UTC) + timedelta(days=1000))
        go_on()
        file = tmp_path / "young.zip"
        with new_file(file) as opened:
            archives.write_archive(opened, before=timezone.now())
        assert problems(file) == []
        refused = "The database refuses: events of the last 90 days are never archived."
        assert_refused(refused, "archive_audit", "--remove", file)
        assert (AuditEvent.objects.count(), ArchiveMark.objects.count()) == (before + 2, 0)

    def test_a_mark_tells_of_a_day_that_is_90_days_ago(self, events):
        last = AuditEvent.objects.filter(chain=ADMINISTRATION).latest("sequence")
        old = read_clock() - YOUNGEST
        with pytest.raises(DatabaseError, match="the last 90 days"), transaction.atomic():
            mark(last, before=old + timedelta(seconds=1))
        mark(last, before=old)

    def test_a_mark_is_that_of_the_last_event_before_its_day(self, events, days_later):
        days_later(1)
        go_on()
        first, second = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("-sequence")[1::-1]
        for day in (first.occurred_at, second.occurred_at + timedelta(microseconds=1)):
            with pytest.raises(DatabaseError, match="last event before"), transaction.atomic():
                mark(first, before=day)
        mark(first, before=second.occurred_at)

    def test_an_archive_that_tells_of_a_later_day_than_it_has_removes_nothing(
        self, events, days_later, archive
    ):
        day = days_later(200)
        go_on()
        days_later(2)
        file = with_day(archive(day), timezone.now() - timedelta(days=1))
        assert problems(file) == []
        before = AuditEvent.objects.count()
        refused = "The database refuses: an archive mark is that of the last event before its day."
        assert_refused(refused, "archive_audit", "--remove", file)
        assert (AuditEvent.objects.count(), ArchiveMark.objects.count()) == (before, 0)

    @pytest.mark.parametrize("how", ["renamed", "copied"])
    def test_what_is_removed_is_in_the_file_that_was_verified(
        self, events, days_later, archive, monkeypatch, how
    ):
        """Another file comes to its name while it is read: it is opened once, and compared."""
        day = days_later(200)
        small = archive(day)
        go_on()
        large = archive(days_later(200), "large.zip")
        before = AuditEvent.objects.count()

        def put_another_there(*arguments: Any) -> Any:
            found = examine(*arguments)
            small.write_bytes(large.read_bytes()) if how == "copied" else large.replace(small)
            return found

        monkeypatch.setattr(archives, "examine", put_another_there)
        how_told = "changed" if how == "copied" else "replaced"
        refused = f"{small} was {how_told} while it was read."
        assert_refused(refused, "archive_audit", "--remove", small)
        assert (AuditEvent.objects.count(), ArchiveMark.objects.count()) == (before, 0)

    def test_an_archive_is_on_the_disk_before_its_events_go(
        self, events, days_later, archive, monkeypatch
    ):
        file = archive(days_later(200))
        synced, sync, remove = set(), os.fsync, archives.remove_archived

        def remember(descriptor: int) -> None:
            sync(descriptor)
            synced.add(os.fstat(descriptor).st_ino)

        def compare(*arguments: Any, **options: Any) -> int:
            assert synced == {file.stat().st_ino, file.parent.stat().st_ino}
            return remove(*arguments, **options)

        monkeypatch.setattr(os, "fsync", remember)
        monkeypatch.setattr(archives, "remove_archived", compare)
        assert "events were removed" in run("archive_audit", "--remove", file)

    def test_a_mark_is_never_changed_or_deleted(self, events):
        made = mark(AuditEvent.objects.get(chain=ADMINISTRATION, sequence=1))
        for act in (made.delete, lambda: made.save(force_update=True)):
            with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
                act()
        with (
            pytest.raises(DatabaseError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("TRUNCATE agent_access_archivemark")

    def test_the_role_of_the_service_neither_marks_nor_removes(
        self, events, days_later, archive, tmp_path
    ):
        file = archive(days_later(200))
        first, second = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("sequence")[:2]
        mark(first)
        with connection.cursor() as cursor:
            cursor.execute("CREATE ROLE archive_test_service")
            cursor.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO archive_test_service")
            cursor.execute("SET LOCAL ROLE archive_test_service")
        with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
            first.delete()
        with pytest.raises(DatabaseError, match="owner of the tables"), transaction.atomic():
            mark(second)
        refused = "The archive does not go on"
        assert_refused(refused, "archive_audit", "--remove", file)
        assert AuditEvent.objects.filter(pk=first.pk).exists()

    def test_pages_say_that_older_events_are_elsewhere(
        self, books, days_later, archive, sign_in, owner
    ):
        document = Document.objects.get(series_value=3)
        auditor = UserFactory.create(name="Ute Auditor", permissions=[Permission.AUDIT])
        desk, evidence = sign_in(owner), sign_in(auditor)
        assert "archived" not in main_of(desk.get("/agents/activity"))
        file = archive(days_later(200))
        run("archive_audit", "--remove", file)
        desk, evidence = sign_in(owner), sign_in(auditor)
        page = main_of(evidence.get(f"/evidence/{document.pk}"))
        assert "Its event is in an archive of the audit" in page
        assert "No event of it was found" not in page
        assert "is not here: it was archived." in main_of(desk.get("/agents/activity"))
        audit = main_of(desk.get("/admin/agent_access/auditevent/"))
        assert "are not here: they were archived." in audit
