"""An upgrade under load: the release before beside this one, on one database."""

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random

from typing_extensions import override

from config.environment import PROJECT_FOLDER
from tests.breaking.faults.fault import Database, Deed, Fault, UnavailableFaultError
from tests.breaking.servers import Server

PASS_SECONDS = 60.0
# After which the first migrate is killed, at most.
LONGEST_SECONDS = 5.0
# It gives up where calls under way hold a table for too long, and is run again.
ATTEMPTS = 5


class MigrationFault(Fault):
    """Each company begins with the release before, is migrated, and upgraded server by server."""

    longest = PASS_SECONDS
    # They run commands of this version, which the tables are not made for yet.
    without = frozenset({"telling", "packages"})

    @override
    @contextmanager
    def prepare(self, binaries: Path, folder: Path) -> Iterator[Database]:
        self.code = folder / "before"
        self.commit = find_release_before(PROJECT_FOLDER)
        write_release(self.commit, self.code)
        with super().prepare(binaries, folder) as database:
            yield database

    @override
    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        def begin() -> None:
            migrate(servers[0], for_seconds=chance.uniform(0, LONGEST_SECONDS))

        def finish() -> None:
            migrate(servers[0])

        def upgrade(server: Server) -> Deed:
            return lambda: server.upgrade(PROJECT_FOLDER)

        order = chance.sample(list(servers), len(servers))
        self._steps = [begin, finish, *(upgrade(server) for server in order)]
        return {"upgrade taken a step further": self._step}

    def _step(self) -> None:
        if self._steps:
            self._steps.pop(0)()

    @override
    def effects(self, servers: Sequence[Server]) -> Mapping[str, int]:
        return {"company migrated while it worked": 1}

    @override
    def calm(self) -> None:
        while self._steps:
            self._step()


def migrate(server: Server, *, for_seconds: float | None = None) -> None:
    """Migrate the database of a server to this release, beside whatever runs.

    After so many seconds it is killed, wherever it is by then; otherwise it is run until it ends
    well, a few times at most.
    """
    told = ""
    for _ in range(ATTEMPTS):
        process = subprocess.Popen(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=PROJECT_FOLDER,
            env=server.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            _, told = process.communicate(timeout=for_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return
        if not process.returncode:
            return
    raise RuntimeError(f"The migrate under load failed:\n{told}")


def find_release_before(repository: Path) -> str:
    """Return the newest commit with fewer migrations than this tree, and none that it has not.

    Raises UnavailableFaultError where there is none to be seen, as in a clone without history.
    """
    now = _read_migrations(repository, "HEAD")
    for commit in _git(repository, "rev-list", "HEAD").split():
        if _read_migrations(repository, commit).items() < now.items():
            return commit
    raise UnavailableFaultError("Migrations under load need a commit with fewer of them.")


def _read_migrations(repository: Path, commit: str) -> dict[str, str]:
    """Return the digest of each migration in a commit, by path."""
    rows = [row.split() for row in _git(repository, "ls-tree", "-r", commit).splitlines()]
    return {row[-1]: row[2] for row in rows if "/migrations/0" in row[-1]}


def write_release(commit: str, folder: Path) -> None:
    """Write the tree of a commit, with the harness of today beside its own tests."""
    with tarfile.open(fileobj=BytesIO(_archive(commit))) as archive:
        archive.extractall(folder, filter="data")
    shutil.copytree(
        PROJECT_FOLDER / "tests/breaking", folder / "tests/breaking", dirs_exist_ok=True
    )
    for module in (PROJECT_FOLDER / "tests").glob("*.py"):
        if not (folder / "tests" / module.name).exists():
            shutil.copy(module, folder / "tests" / module.name)
    collecting = "from tests.static_files import collect_static_files as collect; collect()"
    subprocess.run([sys.executable, "-c", collecting], cwd=folder, check=True)  # noqa: S603  ours


def _archive(commit: str) -> bytes:
    command = ["git", "archive", commit]
    return subprocess.run(command, cwd=PROJECT_FOLDER, capture_output=True, check=True).stdout  # noqa: S603  ours


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)  # noqa: S603  ours
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise UnavailableFaultError("Migrations under load need the repository and git.") from error
    return done.stdout
