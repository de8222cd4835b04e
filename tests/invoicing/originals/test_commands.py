"""The commands that make and write the originals of a period, also after they were broken off."""

import csv
import errno
import os
from datetime import date
from hashlib import sha256
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command

from agent_access.models import AuditEvent
from invoicing.e_invoices.kinds import Kind
from invoicing.models import Customer, NumberFormat, Original, OriginalKind
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import ISSUED_AT, CustomerFactory, make_correction, make_draft
from tests.invoicing.originals.conftest import FAILURE
from tests.snapshots import take_snapshot

YEAR = ("--from", "2026-01-01", "--to", "2026-12-31")
HEAD = (
    "Number,Type,Issue date,Customer number,Customer,Currency,Net total,Tax total,Grand total,"
    "Kind,File,SHA-256,Bytes,Why it is missing"
)

pytestmark = pytest.mark.django_db


def run(command: str, *arguments: str) -> tuple[str, str]:
    """Return what the command printed: on standard output and, of failures, on standard error."""
    output, errors = StringIO(), StringIO()
    try:
        call_command(command, *arguments, stdout=output, stderr=errors, no_color=True)
    except CommandError as refusal:
        errors.write(str(refusal))
    return output.getvalue(), errors.getvalue()


def export(folder: Path) -> tuple[str, str]:
    return run("export_originals", *YEAR, "--into", str(folder))


def told(folder: Path) -> tuple[str, str]:
    return f"The originals are in {folder}, which index.csv lists.\n", ""


def kept() -> set[tuple[str | None, str]]:
    return set(Original.objects.values_list("document__number", "kind"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def documents(issue) -> None:
    """Three of the year, the last for a customer who wants an XRechnung, and others."""
    wanting = Customer.objects.get()
    issue(customer=CustomerFactory.create(e_invoice=Kind.FACTUR_X))
    issue(customer=CustomerFactory.create())
    Customer.objects.filter(pk=wanting.pk).update(e_invoice=Kind.XRECHNUNG)
    issue()
    for day in (date(2025, 12, 31), date(2027, 1, 1)):
        issue(issue_date=day, due_date=day)
    make_draft()


def test_the_originals_of_a_period_are_made_ahead_and_only_once(documents, maker):
    made = {(f"INV-2026-000{n}", "pdf") for n in (1, 2, 3)} | {("INV-2026-0003", "xrechnung")}
    assert run("make_originals", *YEAR) == ("Originals kept: 4.\n", "")
    assert kept() == made
    assert maker.made == ["INV-2026-0001", "INV-2026-0002", "INV-2026-0003", "closed"]
    before = take_snapshot()
    assert run("make_originals", *YEAR) == ("Originals kept: 4.\n", "")
    assert (take_snapshot(), maker.made[4:]) == (before, ["closed"])


def test_those_that_fail_are_named_and_all_others_made(documents, maker):
    maker.fail("INV-2026-0001")
    assert run("make_originals", *YEAR) == (
        "Originals kept: 3.\n",
        f"INV-2026-0001.pdf: {FAILURE}\nOriginals that failed: 1. All others are done.",
    )


def test_an_e_invoice_that_would_not_be_valid_is_named(issue, maker):
    issue(customer=CustomerFactory.create(e_invoice=Kind.XRECHNUNG))
    output, errors = run("make_originals", *YEAR)
    assert (output, kept()) == ("Originals kept: 1.\n", {("INV-2026-0001", "pdf")})
    [named, _] = errors.splitlines()
    assert named.startswith("INV-2026-0001-xrechnung.xml: The buyer reference is missing")


@pytest.mark.parametrize("command", ["make_originals", "export_originals"])
def test_a_run_that_is_broken_off_keeps_what_it_made_and_the_next_goes_on(
    documents, maker, folder, command
):
    arguments = [*YEAR, *(["--into", str(folder)] if command == "export_originals" else [])]
    maker.failing["INV-2026-0003"] = KeyboardInterrupt()
    assert run(command, *arguments) == ("", "Stopped before it was done.")
    assert kept() == {("INV-2026-0001", "pdf"), ("INV-2026-0002", "pdf")}
    maker.failing.clear()
    maker.made.clear()
    run(command, *arguments)
    assert maker.made == ["INV-2026-0003", "closed"]
    assert len(kept()) == 4


def read_index(folder: Path) -> list[list[str]]:
    with (folder / "index.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the files of the folder by name: what they hold, and when they were written."""
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


def test_the_folder_has_every_file_and_an_index_of_them(issue, maker, folder):
    invoice = issue()
    issue_document(make_correction(invoice), clock=at(ISSUED_AT))
    evil = CustomerFactory.create(name="=HYPERLINK(A1)")
    issue(customer=evil, currency_code="JPY")
    assert export(folder) == told(folder)
    files = {name: content for name, (content, _) in contents(folder).items()}
    index = files.pop("index.csv")
    assert files == {
        f"{each.document.number}.pdf": bytes(each.content) for each in Original.objects.all()
    }
    sizes = {name: str(len(content)) for name, content in files.items()}
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}

    def row(number: str, kind: str, *told: str) -> list[str]:
        name = f"{number}.pdf"
        of_file = ["PDF", name, digests[name], sizes[name], ""]
        return [number, kind, "2026-03-02", *told, *of_file]

    assert read_index(folder) == [
        HEAD.split(","),
        row("INV-2026-0001", "Invoice", "7", "Behörde", "EUR", "100.00", "19.00", "119.00"),
        row("CN-2026-0001", "Credit Note", "7", "Behörde", "EUR", "-100.00", "-19.00", "-119.00"),
        row("INV-2026-0002", "Invoice", "", "'=HYPERLINK(A1)", "JPY", "10000", "1900", "11900"),
    ]
    before = contents(folder)
    assert export(folder) == told(folder)
    after = contents(folder)
    assert after.pop("index.csv")[0] == before.pop("index.csv")[0] == index
    assert after == before
    events = AuditEvent.objects.filter(action="export:begun")
    assert set(events.values_list("target", "detail", "transport")) == {
        ("originals", "2026-01-01 to 2026-12-31", "command")
    }


def test_a_file_with_another_content_is_named_and_never_replaced(issue, maker, folder):
    for _ in range(2):
        issue()
    folder.mkdir()
    mine = folder / "INV-2026-0001.pdf"
    mine.write_bytes(b"mine")
    (folder / ".INV-2026-0002.pdf.part").symlink_to(mine)  # of a run that broke off, or hostile
    assert export(folder)[1] == (
        "INV-2026-0001.pdf: The folder has another file of this name.\n"
        "Originals that failed: 1. All others are done."
    )
    assert mine.read_bytes() == b"mine"
    assert [row[10:] for row in read_index(folder)[1:2]] == [
        ["", "", "", "The folder has another file of this name."]
    ]
    assert sorted(contents(folder)) == ["INV-2026-0001.pdf", "INV-2026-0002.pdf", "index.csv"]


def test_an_original_that_does_not_fit_its_digest_is_named_and_not_written(issue, maker, folder):
    spoilt = {"content": b"%PDF", "digest": "0" * 64, "made_with": {}}
    Original.objects.create(document=issue(), kind=OriginalKind.PDF, **spoilt)
    assert export(folder)[1] == (
        "INV-2026-0001.pdf: What the database holds does not fit its digest.\n"
        "Originals that failed: 1. All others are done."
    )
    assert sorted(contents(folder)) == ["index.csv"]


def test_a_file_that_cannot_be_written_whole_has_not_its_name(issue, maker, folder, monkeypatch):
    issue()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(os, "fsync", Mock(side_effect=full))
    why = "No space left on device. What was done before stays done."
    assert export(folder) == ("", f"{folder} cannot be written: {why}")
    assert sorted(contents(folder)) == [".INV-2026-0001.pdf.part", ".index.csv.part"]


def test_what_stands_where_a_file_or_the_folder_should_be_is_named(issue, maker, folder):
    for _ in range(2):
        issue()
    folder.mkdir()
    (folder / "INV-2026-0001.pdf").mkdir()
    os.mkfifo(folder / "INV-2026-0002.pdf")
    assert export(folder)[1] == (
        "INV-2026-0001.pdf: The folder has another file of this name.\n"
        "INV-2026-0002.pdf: The folder has another file of this name.\n"
        "Originals that failed: 2. All others are done."
    )
    file = folder / "index.csv"
    why = "File exists. What was done before stays done."
    assert export(file) == ("", f"{file} cannot be written: {why}")
    link = folder / "link"
    link.symlink_to(folder / "away", target_is_directory=True)
    assert export(link) == ("", f"{link} cannot be written: {why}")


def test_a_number_is_no_way_out_of_the_folder(issue, maker, folder):
    NumberFormat.objects.create(type="invoice", prefix="A/../../")
    assert issue().number == "A/../../2026-0001"
    assert export(folder) == told(folder)
    name = "A+..+..+2026-0001.pdf"
    assert sorted(contents(folder)) == [name, "index.csv"]
    assert [row[10] for row in read_index(folder)[1:]] == [name]


@pytest.mark.parametrize(
    ("days", "refusal"),
    [
        (("2026-02-01", "2026-01-31"), "The last day is before the first."),
        (("2026-02-29", "2026-03-31"), "Argument --from: invalid day value: '2026-02-29'."),
    ],
)
def test_a_period_that_is_none_is_refused(company, maker, folder, days, refusal):
    first, last = days
    before = take_snapshot()
    period = ("--from", first, "--to", last)
    assert run("export_originals", *period, "--into", str(folder)) == ("", refusal)
    assert (take_snapshot(), AuditEvent.objects.count(), folder.exists()) == (before, 0, False)
