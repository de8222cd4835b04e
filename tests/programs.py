"""Programs of the project, run as an operator runs them."""

import os
import subprocess
import sys
from typing import Any

from config.environment import PROJECT_FOLDER


def run_python(
    *words: str, settings: dict[str, str] | None = None, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run Python in the project's folder; the settings go over those of the tests."""
    return subprocess.run(  # noqa: S603  our own program
        [sys.executable, *words],
        cwd=PROJECT_FOLDER,
        env={**os.environ, **(settings or {})},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
