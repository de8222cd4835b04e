"""A new optional text of a draft needs five files and nothing else."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config.environment import PROJECT_FOLDER

PATCH = PROJECT_FOLDER / "tests" / "optional_text.patch"
TREE = (
    *("agent_access", "config", "invoicing", "mcp_gateway", "templates", "tests"),
    *("manage.py", "pyproject.toml", "requirements.txt"),
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the project that has the new text."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in TREE:
        source = PROJECT_FOLDER / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=ignored)
        else:
            shutil.copy(source, tmp_path)
    apply = ["git", "apply", "--unidiff-zero", "-p1", str(PATCH)]
    subprocess.run(apply, cwd=tmp_path, check=True)  # noqa: S603  our own patch
    return tmp_path


def test_the_patch_touches_the_five_files_that_contributing_names():
    touched = re.findall(r"^\+\+\+ b/(.+)$", PATCH.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(touched) == [
        "invoicing/draft_fields.py",
        "invoicing/migrations/0040_cost_center.py",
        "invoicing/models/documents.py",
        "invoicing/paper/labels.py",
        "invoicing/web/drafts/forms.py",
    ]


# The walks are the same on both databases, and run on both without the new text.
@pytest.mark.sqlite
@pytest.mark.prove
def test_a_new_text_goes_all_the_way_without_being_named_elsewhere(copy):
    walks = ["tests/web/test_draft_fields.py", "tests/web/test_paper_labels.py"]
    done = subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-m", "pytest", "--database", "sqlite", "-q", "-n", "0", *walks],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
