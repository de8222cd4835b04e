"""The distribution, built from this checkout and installed as another project would install it."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from config.environment import PROJECT_FOLDER

DISTRIBUTION = PROJECT_FOLDER / "agent_access"


def build_wheel(folder: Path) -> Path:
    """Build the wheel of both apps into the folder."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", folder], cwd=DISTRIBUTION, check=True, timeout=60)  # noqa: S603  our own command
    [wheel] = folder.glob("*.whl")
    return wheel


def make_environment(folder: Path, wheel: Path) -> Path:
    """Install the wheel into an environment in the folder, and return its interpreter.

    The packages that it needs are those of the environment of these tests.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    subprocess.run([*install, "--python", python, wheel], check=True, timeout=60)  # noqa: S603  our own command
    packages = {"base": str(folder), "platbase": str(folder)}
    own = Path(sysconfig.get_path("purelib", scheme="venv", vars=packages))
    (own / "packages.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python
