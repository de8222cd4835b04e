"""The audit of libraries says what it could not look up, and the bill of materials has each."""

import json
import re

import pytest

from config.environment import PROJECT_FOLDER
from tests.supply_chain import Audit, read_audit, write_sbom

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

PINNED = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)", re.MULTILINE)
SOUND = {"name": "segno", "version": "1.6.6", "vulns": []}
SKIPPED = {"name": "tqdm", "skip_reason": "Dependency not found on PyPI"}
KNOWN = {
    "name": "django",
    "version": "5.2.0",
    "vulns": [{"id": "PYSEC-2025-1", "fix_versions": ["5.2.1"], "aliases": [], "description": ""}],
}


def told(*libraries: object) -> str:
    return json.dumps({"dependencies": libraries, "fixes": []})


@pytest.mark.parametrize(
    ("answer", "sentence", "status", "status_if_required"),
    [
        (told(SOUND), "Libraries checked: 1. Vulnerabilities found: 0.", 0, 0),
        (told(SOUND, KNOWN), "Libraries checked: 2. Vulnerabilities found: 1.", 1, 1),
        (
            told(SOUND, SKIPPED),
            "Libraries checked: 1. Vulnerabilities found: 0. Not checked: tqdm.",
            0,
            1,
        ),
        (
            told(SKIPPED),
            "The service of known vulnerabilities cannot be asked here. No library was checked.",
            0,
            1,
        ),
        (
            "",
            "The service of known vulnerabilities cannot be asked here. No library was checked.",
            0,
            1,
        ),
    ],
)
def test_an_audit_counts_what_was_looked_up(answer, sentence, status, status_if_required):
    found = read_audit(answer)
    assert found.sentence() == sentence
    assert found.status(is_required=False) == status
    assert found.status(is_required=True) == status_if_required


def test_a_known_vulnerability_is_named_with_what_fixes_it():
    assert read_audit(told(KNOWN)) == Audit(
        checked=1, unchecked=[], known=["django 5.2.0: PYSEC-2025-1, fixed in 5.2.1"]
    )


def test_the_bill_of_materials_has_each_library_of_an_installation(tmp_path):
    assert write_sbom(tmp_path / "sbom.json") == 0
    bill = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == (
        "CycloneDX",
        "agent-invoicing",
    )
    locked = (PROJECT_FOLDER / "requirements.txt").read_text(encoding="utf-8")
    listed = {f"pkg:pypi/{name}@{version}" for name, version in PINNED.findall(locked)}
    assert {each["purl"] for each in bill["components"]} == listed
