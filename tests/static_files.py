"""The static files, collected as every installation does: without them no server starts."""

import os
import subprocess
import sys

from config.environment import PROJECT_FOLDER, VAR_FOLDER

MANIFEST = VAR_FOLDER / "static" / "staticfiles.json"
KEY = "for-collecting-only-and-guarding-nothing-whatsoever"


def collect_static_files() -> None:
    """Collect them unless they are newer than all that they are made from."""
    sources = [*PROJECT_FOLDER.glob("*/static/**/*"), PROJECT_FOLDER / "requirements.txt"]
    newest = max(path.stat().st_mtime for path in sources)
    if MANIFEST.exists() and MANIFEST.stat().st_mtime > newest:
        return
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"],
        cwd=PROJECT_FOLDER,
        env={**os.environ, "SECRET_KEY": KEY, "DATABASE_URL": "sqlite:///none"},
        check=True,
    )
