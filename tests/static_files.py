"""The static files, collected as every installation does: without them no server starts."""

import fcntl
import os
import subprocess
import sys

from config.environment import PROJECT_FOLDER, VAR_FOLDER

COLLECTED = VAR_FOLDER / "static"
KEY = "for-collecting-only-and-guarding-nothing-whatsoever"


def collect_static_files() -> None:
    """Collect them if anything that they are made from is newer; one run at a time does."""
    folder = os.open(PROJECT_FOLDER, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not _are_new():
            _collect()
    finally:
        os.close(folder)


def _are_new() -> bool:
    manifest = COLLECTED / "staticfiles.json"
    folders = ("*/static/**/*", "*/*/static/**/*")
    found = (path for folder in folders for path in PROJECT_FOLDER.glob(folder))
    sources = [path for path in found if COLLECTED not in path.parents]
    newest = max(path.stat().st_mtime for path in (*sources, PROJECT_FOLDER / "requirements.txt"))
    return manifest.exists() and manifest.stat().st_mtime > newest


def _collect() -> None:
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"],
        cwd=PROJECT_FOLDER,
        env={**os.environ, "SECRET_KEY": KEY, "DATABASE_URL": "sqlite:///none"},
        check=True,
    )
