"""The distribution, built from this checkout and installed as another project would install it."""

import subprocess
import sys
from pathlib import Path

from config.environment import PROJECT_FOLDER

DISTRIBUTION = PROJECT_FOLDER / "agent_access"


def build_wheel(folder: Path) -> Path:
    """Build the wheel of both apps into the folder."""
    build = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    _run(sys.executable, *build, folder=DISTRIBUTION)
    [wheel] = folder.glob("*.whl")
    return wheel


def make_environment(folder: Path, wheel: Path, *, base: Path = Path(sys.executable)) -> Path:
    """Install the wheel into an environment in the folder, and return its interpreter.

    The packages that it needs are those of the environment of the `base` interpreter.
    """
    _run(base, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    install = ["pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(python)]
    _run(sys.executable, "-m", "uv", *install, wheel)
    packages, own = _ask_packages(base), _ask_packages(python)
    (Path(own) / "packages.pth").write_text(packages, encoding="utf-8")
    return python


def _ask_packages(python: Path) -> str:
    return _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()


def _run(*command: str | Path, folder: Path | None = None) -> str:
    done = subprocess.run(  # noqa: S603  our own command
        command, cwd=folder, check=True, timeout=60, stdout=subprocess.PIPE, text=True
    )
    return done.stdout
