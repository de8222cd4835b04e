"""Starts a release again on a database that this version has migrated.

    python -m tests.releases.back before-44 --commit 96dbc980

restores what is kept of the release, migrates it to this version, and lets the release's own code
go on in it: people sign in, agents draft and issue, the audit grows. Then this version verifies
what both have written. Prints a line for each database, and exits with 1 if one does not hold.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_access.evidence.verify_evidence import verify
from tests.environment import DATABASES
from tests.releases.kept import Release
from tests.releases.make import ROOT, manage, serve, take_commit

GO_ON = "from tests.releases.company import print_company; print_company({!r}, goes_on=True)"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.releases.back", allow_abbrev=False)
    parser.add_argument("release", help="one of those that are kept")
    parser.add_argument("--commit", required=True, help="its code")
    asked = parser.parse_args()
    held = True
    with TemporaryDirectory(prefix="release-") as scratch:
        place = Path(scratch)
        place.chmod(0o711)  # so that PostgreSQL's account can enter its folder inside
        code = take_commit(asked.commit, place / "code")
        for database in DATABASES:
            told = go_back(Release(asked.release, database), code, place)
            held &= told is None
            print(f"{asked.release} on {database}: {told or 'goes on, and all verifies'}")  # noqa: T201  a report
    return int(not held)


def go_back(release: Release, code: Path, place: Path) -> str | None:
    """Return what does not hold, or None."""
    package = place / f"{release.database}.zip"
    with serve(release.database, place) as (url, cluster):
        if cluster:
            release.restore_into_server(url)
        else:
            release.restore_into_file(Path(url.removeprefix("sqlite:///")))
        manage(ROOT, url, "migrate", "--verbosity", "0")
        try:
            manage(code, url, "shell", "-v0", "-c", GO_ON.format(str(place / "old.zip")))
        except subprocess.CalledProcessError:
            return "its code does not go on"
        manage(ROOT, url, "migrate", "--verbosity", "0")
        manage(ROOT, url, "export_evidence", str(package))
    earlier = str(release.evidence) if release.evidence else None
    report, status = verify(str(package), earlier, None)
    return report if status else None


if __name__ == "__main__":
    sys.exit(main())
