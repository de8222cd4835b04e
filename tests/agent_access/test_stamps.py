"""Stamps on the heads of the audit: what is kept is proof, or nothing is kept."""

import hashlib
import os
import ssl
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from stat import S_IMODE

import pytest
import trustme
from django.core.management import CommandError, call_command
from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

from agent_access import outgoing, stamps
from agent_access.models import ADMINISTRATION, AuditEvent
from agent_access.verification import read_heads, write_heads
from tests.agent_access.stamping import make_authority, openssl, run_authority
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.sqlite  # what is read here asks no database


UNCHECKED = "Nobody checked who signed the stamp: --roots names the certificates to trust.\n"
OTHER_STAMP = "The authority stamped something else than it was asked for."
NO_STAMP = "The authority answered, but not with a time stamp."
UNWRITTEN = "The files cannot be written: name a folder of this account with --directory."
UNREACHABLE = "The authority could not be reached, or its answer was too slow or too long."


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("authority")
    make_authority(folder)
    return folder


@pytest.fixture
def authority(keys, settings, monkeypatch):
    monkeypatch.setattr(outgoing, "resolve", lambda *_: ["127.0.0.1"])
    with run_authority(keys) as running:
        settings.AGENT_ACCESS |= {"STAMP_URL": running.url, "REACHES_LOOPBACK": True}
        yield running


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "stamps"
    made.mkdir()
    return made


def stamp(folder: Path, *arguments: str) -> tuple[str, str]:
    """Return what the command printed, and of what it warned."""
    out, errors = StringIO(), StringIO()
    options = {"stdout": out, "stderr": errors, "no_color": True}
    call_command("stamp_heads", "--directory", str(folder), *arguments, **options)
    return out.getvalue(), errors.getvalue()


def assert_nothing_is_stamped(sentence: str, folder: Path, *arguments: str) -> None:
    before, events = take_snapshot(), AuditEvent.objects.count()
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    with pytest.raises(CommandError) as refusal:
        stamp(folder, *arguments)
    assert str(refusal.value) == sentence
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)
    assert (sorted(folder.iterdir()) if folder.is_dir() else []) == files


def test_the_heads_and_their_stamp_are_kept_and_another_program_verifies_both(
    agent, authority, folder, connection
):
    agent.call("tools.list")
    heads = write_heads(read_heads())
    began_at = datetime.now(UTC)
    said, warned = stamp(folder, "--roots", str(authority.root))
    token, text = sorted(folder.iterdir())
    assert (token.suffix, text.suffix, token.stem) == (".tsr", ".txt", text.stem)
    named_at = datetime.strptime(text.stem, "heads-%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert timedelta(seconds=-1) < named_at - began_at < timedelta(minutes=1)
    assert [S_IMODE(each.stat().st_mode) for each in (token, text)] == [0o600, 0o600]
    assert text.read_text(encoding="utf-8") == heads
    head, *paths = said.splitlines()
    assert head.startswith("The heads of 2 chains were stamped at ")
    assert (paths, warned) == ([str(text), str(token)], "")

    verify = ("ts", "-verify", "-data", str(text), "-in", str(token), "-CAfile", "root.pem")
    assert openssl(*verify, folder=authority.folder)
    call_command("verify_audit", "--expect", str(text), stdout=StringIO())
    event = AuditEvent.objects.filter(chain=ADMINISTRATION).latest("sequence")
    digest = hashlib.sha256(heads.encode()).hexdigest()
    assert (event.action, event.detail, event.transport) == ("heads:stamped", digest, "command")


def test_without_roots_the_command_says_that_nobody_checked_who_signed(
    connection, authority, folder
):
    _, warned = stamp(folder)
    assert warned == UNCHECKED
    assert len([*folder.iterdir()]) == 2


def test_a_stamp_that_no_root_vouches_for_is_not_kept(connection, authority, folder, tmp_path):
    make_authority(tmp_path)
    sentence = "None of the roots vouches for the signature of the stamp."
    assert_nothing_is_stamped(sentence, folder, "--roots", str(tmp_path / "root.pem"))
    ours = str(authority.root)
    authority.answer = lambda query: _with_another_signature(authority.stamp(query))
    assert_nothing_is_stamped(sentence, folder, "--roots", ours)


def _with_another_signature(answer: bytes) -> bytes:
    return answer[:-1] + bytes([answer[-1] ^ 1])


def test_a_stamp_of_an_earlier_question_is_not_kept(connection, authority, folder):
    same = write_heads(read_heads()).encode()
    earlier = TimestampRequestBuilder(same, HashAlgorithm.SHA256).build().as_bytes()
    authority.answer = lambda _: authority.stamp(earlier)
    assert_nothing_is_stamped(OTHER_STAMP, folder)


def test_a_stamp_of_something_else_is_not_kept(connection, authority, folder):
    ours = hashlib.sha256(write_heads(read_heads()).encode()).digest()
    other = hashlib.sha256(b"other heads").digest()
    authority.answer = lambda query: authority.stamp(query.replace(ours, other))
    assert_nothing_is_stamped(OTHER_STAMP, folder)


def test_an_authority_that_refuses_is_told(connection, authority, folder):
    weak = TimestampRequestBuilder(b"heads", HashAlgorithm.SHA512).build().as_bytes()
    authority.answer = lambda _: authority.stamp(weak)  # it takes SHA-256 alone
    assert_nothing_is_stamped("The authority refused to stamp.", folder)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", NO_STAMP),
        (b"<html>", NO_STAMP),
        (b"\x30\x05\x30\x03\x02\x01\x00", NO_STAMP),  # granted, and no stamp
        (b"x" * (outgoing.MAX_BYTES + 1), UNREACHABLE),
    ],
)
def test_an_answer_that_is_no_stamp_is_told(connection, authority, folder, body, sentence):
    authority.answer = lambda _: body
    assert_nothing_is_stamped(sentence, folder)


@pytest.mark.parametrize("status", [302, 404, 503])
def test_an_answer_with_another_status_is_told_and_no_redirect_is_followed(
    connection, authority, folder, status
):
    authority.status = status
    authority.headers = {"Location": authority.url}
    assert_nothing_is_stamped(NO_STAMP, folder)
    assert len(authority.queries) == 1


def test_an_authority_at_an_https_address_must_prove_its_name(
    connection, authority, keys, folder, settings, monkeypatch
):
    tls = trustme.CA()
    trusting = ssl.create_default_context()
    tls.configure_trust(trusting)
    with run_authority(keys, tls=tls) as secure:
        settings.AGENT_ACCESS |= {"STAMP_URL": secure.url}
        assert_nothing_is_stamped(UNREACHABLE, folder)
        assert secure.queries == []
        monkeypatch.setattr(outgoing, "make_tls_context", lambda: trusting)
        stamp(folder)
    assert len([*folder.iterdir()]) == 2


def test_an_authority_at_a_private_address_is_never_called(connection, authority, folder, settings):
    settings.AGENT_ACCESS |= {"REACHES_LOOPBACK": False}
    assert_nothing_is_stamped(UNREACHABLE, folder)
    assert authority.queries == []


def test_a_missing_folder_is_told(connection, authority, folder):
    assert_nothing_is_stamped(UNWRITTEN, folder / "missing")


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_files_that_cannot_be_written_leave_nothing(
    connection, authority, folder, monkeypatch, failing
):
    """Each of the two files is synced, and then its folder."""
    written = []

    def fill_the_disk(file) -> None:
        written.append(file)
        if len(written) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill_the_disk)
    assert_nothing_is_stamped(UNWRITTEN, folder)
    assert len(written) == failing


def test_the_files_are_there_before_the_administration_is_locked_and_gone_if_it_cannot_be(
    connection, authority, folder, monkeypatch
):
    def fail(*_: object, **__: object) -> None:
        token, text = sorted(folder.iterdir())
        assert (token.suffix, text.suffix) == (".tsr", ".txt")
        assert text.read_text(encoding="utf-8") == write_heads(read_heads())
        raise CommandError("The administration is locked.")

    monkeypatch.setattr(stamps, "record_act", fail)
    assert_nothing_is_stamped("The administration is locked.", folder)


def test_no_heads_are_there_without_their_stamp(connection, authority, folder, monkeypatch):
    link, named = os.link, []

    def remember(part, file) -> None:
        link(part, file)
        named.append(sorted(each.suffix for each in folder.iterdir() if each.name[0] != "."))

    monkeypatch.setattr(os, "link", remember)
    stamp(folder)
    assert named == [[".tsr"], [".tsr", ".txt"]]


def test_a_stamp_is_never_replaced(connection, authority, folder, time_machine):
    time_machine.move_to(datetime(2026, 11, 30, 9, tzinfo=UTC), tick=False)
    (folder / "heads-20261130T090000Z.tsr").write_bytes(b"kept")
    assert_nothing_is_stamped("The folder has a stamp of this second: try again.", folder)
    assert (folder / "heads-20261130T090000Z.tsr").read_bytes() == b"kept"


def test_a_stamp_needs_an_authority_and_a_chain(company, authority, folder, settings):
    assert_nothing_is_stamped("There is no chain yet, so nothing can be stamped.", folder)
    settings.AGENT_ACCESS |= {"STAMP_URL": ""}
    sentence = "STAMP_URL is not set: it is the address of the authority that stamps."
    assert_nothing_is_stamped(sentence, folder)
    assert authority.queries == []


def test_roots_that_are_none_are_refused(connection, authority, folder, tmp_path):
    sentence = "The file of roots cannot be read: it must hold certificates in PEM."
    (tmp_path / "empty.pem").write_bytes(b"")
    for name in ("missing.pem", "empty.pem"):
        assert_nothing_is_stamped(sentence, folder, "--roots", str(tmp_path / name))
    assert authority.queries == []
