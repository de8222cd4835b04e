"""A file that a command writes has its name once it is whole and on the disk, or not at all."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from stat import S_IMODE

import pytest
from django.core.management import CommandError

from agent_access.evidence.files import new_file
from config.environment import PROJECT_FOLDER

WRITES_AND_WAITS = """
import sys, time
from pathlib import Path
from agent_access.evidence.files import new_file
with new_file(Path(sys.argv[1])) as file:
    file.write(b"half"); file.flush(); print("begun", flush=True); time.sleep(60)
"""


@pytest.fixture
def file(tmp_path) -> Path:
    path: Path = tmp_path / "evidence.zip"
    return path


def write(file: Path, *, meanwhile: Callable[[], object] | None = None) -> None:
    with new_file(file) as opened:
        opened.write(b"whole")
        if meanwhile:
            meanwhile()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_leaves_no_file_of_this_name_and_the_next_one_writes_it(file, ending):
    command = [sys.executable, "-c", WRITES_AND_WAITS, str(file)]
    with subprocess.Popen(command, cwd=PROJECT_FOLDER, stdout=subprocess.PIPE) as process:  # noqa: S603  our own
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(ending)
    assert names(file.parent) == [".evidence.zip.part"]
    write(file)
    assert names(file.parent) == ["evidence.zip"]
    assert (file.read_bytes(), S_IMODE(file.stat().st_mode)) == (b"whole", 0o600)


def test_a_file_is_on_the_disk_before_it_has_its_name_and_the_name_before_it_is_told(
    file, monkeypatch
):
    synced = []

    def sync(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, file.exists()))

    monkeypatch.setattr(os, "fsync", sync)
    write(file)
    assert synced == [(file.stat().st_ino, False), (file.parent.stat().st_ino, True)]


@pytest.mark.parametrize("failing", [1, 2])
def test_what_cannot_be_synced_is_told_and_gone(file, monkeypatch, failing):
    calls = []

    def sync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(CommandError, match="cannot be written: No space left on device"):
        write(file)
    assert names(file.parent) == []


def test_a_part_is_never_written_through_a_link(file):
    mine = file.with_name("mine.txt")
    mine.write_bytes(b"mine")
    file.with_name(".evidence.zip.part").symlink_to(mine)
    write(file)
    assert (mine.read_bytes(), file.read_bytes()) == (b"mine", b"whole")


def test_a_file_that_came_meanwhile_is_not_replaced(file):
    with pytest.raises(CommandError, match="is there already, and is not replaced"):
        write(file, meanwhile=lambda: file.write_bytes(b"first"))
    assert names(file.parent) == ["evidence.zip"]
    assert file.read_bytes() == b"first"


def test_of_two_runs_at_once_the_second_alone_writes_the_file(file):
    first, second = new_file(file), new_file(file)
    first.__enter__().write(b"first")
    second.__enter__().write(b"half")
    with pytest.raises(CommandError, match="is there already, and is not replaced"):
        first.__exit__(None, None, None)
    assert names(file.parent) == [".evidence.zip.part"]
    second.__exit__(None, None, None)
    assert names(file.parent) == ["evidence.zip"]
    assert file.read_bytes() == b"half"


def test_a_disk_without_links_gets_files_too(file, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write(file)
    assert names(file.parent) == ["evidence.zip"]
    other = file.with_name("other.zip")
    with pytest.raises(CommandError, match="is there already"):
        write(other, meanwhile=lambda: other.write_bytes(b"first"))
    assert other.read_bytes() == b"first"


def test_a_disk_that_syncs_no_folders_gets_files_too(file, monkeypatch):
    sync = os.fsync

    def sync_files(descriptor: int) -> None:
        if os.fstat(descriptor).st_ino == file.parent.stat().st_ino:
            raise OSError(errno.EINVAL, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync_files)
    write(file)
    assert file.read_bytes() == b"whole"
