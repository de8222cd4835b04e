"""What the service is made of: a bill of materials, and known vulnerabilities of its libraries.

`./dev check` runs both over requirements.txt, the libraries of an installation:

    python -m tests.supply_chain sbom FILE    # CycloneDX, as JSON
    python -m tests.supply_chain audit

The audit asks PyPI, and fails if a library has a known vulnerability. Where PyPI cannot be asked it
says so and does not fail, unless REQUIRE_AUDIT=1.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from config.environment import PROJECT_FOLDER

REQUIREMENTS = PROJECT_FOLDER / "requirements.txt"
USAGE = "Usage: python -m tests.supply_chain sbom FILE | audit"
UNREACHABLE = "The service of known vulnerabilities cannot be asked here."


class Audit(NamedTuple):
    """What was found: how many libraries were looked up, which were not, and what is known."""

    checked: int
    unchecked: list[str]
    known: list[str]

    def status(self, *, is_required: bool) -> int:
        """Return the exit status: 1 if anything is known, or missing though it is required."""
        return int(bool(self.known) or (is_required and bool(self.unchecked or not self.checked)))

    def sentence(self) -> str:
        if not self.checked:
            return f"{UNREACHABLE} No library was checked."
        parts = [f"Libraries checked: {self.checked}. Vulnerabilities found: {len(self.known)}."]
        if self.unchecked:
            parts.append(f"Not checked: {', '.join(self.unchecked)}.")
        return " ".join(parts)


def read_audit(told: str) -> Audit:
    """Return what pip-audit says in JSON; what it could not look up, it takes for sound."""
    try:
        libraries: list[dict[str, Any]] = json.loads(told)["dependencies"]
    except (ValueError, KeyError):
        return Audit(checked=0, unchecked=[], known=[])
    unchecked = [each["name"] for each in libraries if "skip_reason" in each]
    known = [
        f"{each['name']} {each['version']}: {found['id']},"
        f" fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for each in libraries
        for found in each.get("vulns", [])
    ]
    return Audit(len(libraries) - len(unchecked), unchecked, known)


def audit() -> int:
    """Print what is known of the libraries, and return the exit status."""
    command = ["-m", "pip_audit", "--requirement", str(REQUIREMENTS), "--require-hashes"]
    told = _run(*command, "--disable-pip", "--progress-spinner=off", "--format=json")
    found = read_audit(told.stdout)
    if not told.stdout:
        print(*told.stderr.splitlines()[-1:])  # noqa: T201  why it broke off
    print(*found.known, found.sentence(), sep="\n")  # noqa: T201  said to a person
    return found.status(is_required=os.environ.get("REQUIRE_AUDIT") == "1")


def write_sbom(file: Path) -> int:
    """Write the bill of materials of an installation into the file; the same bytes each time."""
    command = ["-m", "cyclonedx_py", "requirements", str(REQUIREMENTS), "--output-reproducible"]
    # Validating what the library itself wrote would take ten times as long as writing it.
    about = ["--pyproject", str(PROJECT_FOLDER / "pyproject.toml"), "--no-validate"]
    file.parent.mkdir(parents=True, exist_ok=True)
    told = _run(*command, *about, "--output-file", str(file))
    if told.returncode:
        print(told.stderr, file=sys.stderr)  # noqa: T201  said to a person
    return told.returncode


def _run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  our own command
        [sys.executable, *words], capture_output=True, text=True, check=False
    )


def main(words: list[str]) -> int:
    match words:
        case ["audit"]:
            return audit()
        case ["sbom", file]:
            return write_sbom(Path(file))
    print(USAGE, file=sys.stderr)  # noqa: T201  said to a person
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
