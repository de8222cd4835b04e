"""What a package is like, and that one which is damaged, foreign or made to do harm is refused."""

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZipFile

import pytest
from django.core.management import CommandError, call_command

from agent_access import conf
from agent_access.evidence import exporting, package, verify_evidence
from agent_access.evidence.package import VERIFIER
from agent_access.models import AuditEvent
from agent_access.verification import read_heads
from tests.evidence.packages import (
    MANIFEST,
    read_files,
    read_part,
    write_files,
    write_with_manifest,
)
from tests.passkeys import encode

pytestmark = pytest.mark.django_db

ABSENT = b""
UNFROZEN = (
    "Of documents.jsonl, what was approved may differ in: status, lock_version, seller.id,"
    " customer.id, customer.is_active, tax_breakdown.*.is_active."
)
WAYS = (
    "1 by a signed approval, 1 by approval, 2 by hand, 1 by hand and signed, 1 from before this"
    " release"
)


def run_verifier(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the one file as an auditor does: elsewhere, without this project or its settings."""
    command = [sys.executable, "-I", str(VERIFIER), *map(str, arguments)]
    return subprocess.run(  # noqa: S603  our own program
        command, capture_output=True, text=True, cwd="/", env={}, timeout=60, check=False
    )


def test_an_auditor_runs_the_verifier_alone(books, export, tmp_path):
    file, copy = export(), tmp_path / "verify_evidence.py"
    copy.write_bytes(VERIFIER.read_bytes())
    ran = run_verifier(file)
    assert (ran.returncode, ran.stderr) == (0, "")
    told = ran.stdout.split("\n\n")
    assert told[0].splitlines()[1] == "Compared with: nothing that was kept outside"
    assert told[1].splitlines() == [
        "16 events in 2 chains were checked.",
        "2 requests for approval: 2 approved, 2 executed, 0 from before this release.",
        "1 passkeys were compared with their events.",
        "2 signatures were verified over the facts beside them.",
        "Numbers INV-2026-0001 to INV-2026-0006: 6.",
        UNFROZEN,
        f"Numbers of documents.jsonl by how they were given: {WAYS}.",
        "receipts.jsonl: 6 rows, compared with the manifest only.",
    ]
    assert told[2].startswith("Everything agrees.")
    assert "Only heads or a package that somebody kept" in told[2].replace("\n", " ") + told[3]

    files = read_files(file)
    files["heads.txt"] = ABSENT
    ran = run_verifier(write_with_manifest(tmp_path / "forged.zip", files))
    assert ran.returncode == 1
    assert "PROBLEM  administration: the head of the chain is missing" in ran.stdout
    assert "2 problems: do not rely on it." in ran.stdout
    assert run_verifier().returncode == 2


def test_a_package_holds_one_moment_and_a_manifest_of_its_files(books, export):
    files = read_files(export())
    manifest = json.loads(files.pop(MANIFEST))
    assert (manifest["format"], manifest["version"]) == ("agent-evidence", 1)
    assert manifest["service"] == conf.base_url()
    told = {each["name"]: each for each in manifest["files"]}
    assert list(told) == list(files)
    assert set(told) == {
        "heads.txt",
        *(f"{name}.jsonl" for name in ("events", "receipts", "approvals", "documents")),
        *("passkeys.jsonl", "signatures.jsonl"),
    }
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        assert (told[name]["size"], told[name]["sha256"]) == (len(content), digest)
        assert told[name]["count"] == content.count(b"\n")
    assert told["documents.jsonl"]["acts"] == ["document:issued"]
    kept = "".join(f"{c} {head.sequence} {head.digest}\n" for c, head in read_heads().items())
    begun = AuditEvent.objects.get(action="export:begun")
    assert f"administration {begun.sequence} {begun.digest}\n" in files["heads.txt"].decode()
    assert len(kept.splitlines()) == len(files["heads.txt"].decode().splitlines())


def test_nothing_secret_is_in_a_package(books, export, agent):
    files = read_files(export())
    everything = b"".join(files.values())
    assert agent.credential.encode() not in everything
    [row, _] = read_part(export("again.zip"), "approvals.jsonl")
    assert "nonce" not in row
    assert books.person.password.encode() not in everything


def break_off(files: dict[str, bytes]) -> None:
    files["events.jsonl"] = files["events.jsonl"][:-40]


def add_file(files: dict[str, bytes]) -> None:
    files["more.jsonl"] = b"{}\n"


def remove_file(files: dict[str, bytes]) -> None:
    del files["receipts.jsonl"]


def remove_manifest(files: dict[str, bytes]) -> None:
    del files[MANIFEST]


def replace_manifest(files: dict[str, bytes]) -> None:
    files[MANIFEST] = b'{"format":"agent-evidence","version":1,"files":[]}'


def use_another_format(files: dict[str, bytes]) -> None:
    files[MANIFEST] = files[MANIFEST].replace(b'"version": 1', b'"version": 2')


def change_line(files: dict[str, bytes]) -> None:
    files["receipts.jsonl"] = files["receipts.jsonl"].replace(b"drafts", b"dratfs", 1)


OTHER_FILES = (
    "This is no package that can be verified: it holds other files than its manifest names."
)
DAMAGES = {
    break_off: "PROBLEM  a line of events.jsonl is too long, or broken off",
    add_file: OTHER_FILES,
    remove_file: OTHER_FILES,
    remove_manifest: "it holds too many files, one twice, or no manifest.",
    replace_manifest: "its manifest is malformed.",
    use_another_format: "its format is not one that this program knows.",
    change_line: "PROBLEM  receipts.jsonl is not the file that its manifest tells of",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
def test_a_package_with_other_files_than_were_written_is_refused(
    agent, export, report_of, tmp_path, damage
):
    agent.call("drafts.create", {}, key="a-key")
    files = read_files(export())
    files["receipts.jsonl"] = b'{"tool":"drafts.create"}\n' * 3
    whole = read_files(write_with_manifest(tmp_path / "whole.zip", files))
    assert report_of(tmp_path / "whole.zip")[1] == 0
    damage(whole)
    report, code = report_of(write_files(tmp_path / "damaged.zip", whole))
    assert code == 1
    assert DAMAGES[damage] in report


HOSTILE_LINES = {
    "no JSON": b"nothing\n",
    "no object": b"[]\n",
    "a name twice": b'{"id":1,"id":2}\n',
    "no number": b'{"id":NaN}\n',
    "nested without end": b'{"id":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    "other bytes": b"\xff\xfe\n",
    "endless": b"0" * (1 << 26) + b"\n",
    "another kind of row": b'{"id":7}\n',
    "half a letter": b'{"id":"\\ud800","chain":"\\ud800","sequence":1}\n',
}


@pytest.mark.parametrize("name", ["events.jsonl", "receipts.jsonl", "documents.jsonl", "heads.txt"])
@pytest.mark.parametrize("line", HOSTILE_LINES.values(), ids=HOSTILE_LINES.keys())
@pytest.mark.sqlite  # no database is asked
def test_a_hostile_line_is_a_problem_and_no_error(export, report_of, tmp_path, name, line):
    files = read_files(export())
    files[name] += line
    report, code = report_of(write_with_manifest(tmp_path / "hostile.zip", files))
    is_harmless = (name, line) == ("receipts.jsonl", HOSTILE_LINES["another kind of row"])
    is_harmless |= (name, line) == ("receipts.jsonl", HOSTILE_LINES["half a letter"])
    assert code == (0 if is_harmless else 1), report
    report.encode()


def test_what_is_no_zip_file_is_refused(report_of, tmp_path, export):
    text, half = tmp_path / "text.zip", tmp_path / "half.zip"
    text.write_text("This is no ZIP file.")
    whole = export().read_bytes()
    half.write_bytes(whole[: len(whole) // 2])
    for file in (text, half):
        assert report_of(file) == ("This is no whole ZIP file: File is not a zip file.", 1)
    report, code = report_of(tmp_path / "nothing.zip")
    assert code == 1
    assert report.startswith("This cannot be read: ")


def test_bytes_that_rotted_are_found(export, report_of, tmp_path):
    file = export()
    content = bytearray(file.read_bytes())
    place = content.index(b"events.jsonl") + 60
    content[place] ^= 0xFF
    file.write_bytes(content)
    report, code = report_of(file)
    assert code == 1
    assert report.startswith("This is no whole ZIP file: ")


def test_an_entry_that_is_there_twice_is_refused(export, report_of):
    file = export()
    with ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("events.jsonl", b"")
    assert report_of(file)[1] == 1


def test_an_unknown_packing_is_refused(export, report_of, tmp_path):
    with ZipFile(tmp_path / "packed.zip", "w", ZIP_BZIP2) as archive:
        for name, content in read_files(export()).items():
            archive.writestr(name, content)
    report, code = report_of(tmp_path / "packed.zip")
    assert code == 1
    assert "packed in an unknown way" in report


def test_a_package_that_unpacks_to_too_much_is_refused(export, report_of, monkeypatch):
    """The sizes that a ZIP file tells of itself are asked before anything is unpacked."""
    file = export()
    monkeypatch.setattr(verify_evidence, "ALL_BYTES", 1000)
    report, code = report_of(file)
    assert code == 1
    assert "it unpacks to more than this program reads" in report


def test_no_text_of_a_package_reaches_the_terminal_as_it_is(export, report_of, tmp_path):
    files = read_files(export())
    files["heads.txt"] += b"\x1b[2J 1 00\n"
    report, code = report_of(write_with_manifest(tmp_path / "hostile.zip", files))
    assert (code, "\x1b" in report) == (1, False)


def test_no_name_of_a_file_reaches_the_terminal_as_it_is(books, export, report_of, tmp_path):
    files = read_files(export())
    manifest = json.loads(files[MANIFEST])
    [numbered] = [told for told in manifest["files"] if told.get("is_numbered")]
    files["\x1b[2J"] = files.pop(numbered["name"])
    numbered["name"] = "\x1b[2J"
    files[MANIFEST] = json.dumps(manifest).encode()
    report, _ = report_of(write_files(tmp_path / "hostile.zip", files))
    assert "Numbers of ?[2J by how they were given" in report
    assert "\x1b" not in report


def at_the_end_of_time(row: dict[str, Any]) -> None:
    row["occurred_at"] = "9999-12-31T23:59:59+00:00"


def nest(row: dict[str, Any]) -> None:
    row["facts"] = '{"a":' * 900 + "1" + "}" * 900


def map_within_a_map(row: dict[str, Any]) -> None:
    row["public_key"] = encode(b"\xa1" * 2000)


HOSTILE_ROWS = {
    at_the_end_of_time: ("events.jsonl", "this event was changed or moved"),
    nest: ("approvals.jsonl", "a row of the approvals is malformed (RecursionError)"),
    map_within_a_map: ("signatures.jsonl", "it was not made with the key of the passkey"),
}


@pytest.mark.sqlite  # no database is asked
@pytest.mark.parametrize("harm", HOSTILE_ROWS, ids=lambda each: each.__name__)
def test_a_hostile_row_is_a_problem_and_no_error(books, export, report_of, tmp_path, harm):
    files = read_files(export())
    name, told = HOSTILE_ROWS[harm]
    rows = [json.loads(line) for line in files[name].splitlines()]
    for row in rows:
        harm(row)
    files[name] = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    report, code = report_of(write_with_manifest(tmp_path / "hostile.zip", files))
    assert code == 1
    assert told in report


def test_the_command_writes_a_file_for_its_user_alone_and_audits_it(books, tmp_path, capsys):
    file = tmp_path / "evidence.zip"
    os.umask(os.umask(0))  # whatever it is
    call_command("export_evidence", str(file))
    digest, size = hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_size
    assert capsys.readouterr().out == f"{file}: {size} bytes, SHA-256 {digest}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    acts = AuditEvent.objects.filter(target="evidence").order_by("sequence")
    assert list(acts.values_list("action", "detail", "transport")) == [
        ("export:begun", "", "command"),
        ("export:finished", f"{size} bytes, SHA-256 {digest}", "command"),
    ]


def test_a_file_that_is_there_is_not_replaced(export, tmp_path):
    (tmp_path / "kept.zip").write_text("kept")
    with pytest.raises(CommandError, match="is there already, and is not replaced"):
        call_command("export_evidence", str(tmp_path / "kept.zip"))
    with pytest.raises(CommandError, match="cannot be written: No such file or directory"):
        call_command("export_evidence", str(tmp_path / "nowhere" / "evidence.zip"))
    assert (tmp_path / "kept.zip").read_text() == "kept"
    assert not AuditEvent.objects.filter(target="evidence").exists()


def test_a_package_that_fails_leaves_no_file(tmp_path, monkeypatch):
    def fail(**_: object) -> object:
        yield b"PK"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "write_package", fail)
    with pytest.raises(CommandError, match="cannot be written: No space left on device"):
        call_command("export_evidence", str(tmp_path / "evidence.zip"))
    assert list(tmp_path.iterdir()) == []
    assert not AuditEvent.objects.filter(action="export:finished").exists()


def test_the_verifier_needs_no_more_than_it_says() -> None:
    lines = VERIFIER.read_text(encoding="utf-8").splitlines()
    imported = {
        line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))
    }
    assert imported - set(sys.stdlib_module_names) == {"cryptography"}
    assert Path(package.__file__).parent == VERIFIER.parent
