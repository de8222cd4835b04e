"""The guide for other projects is made of one that runs, and names what there is."""

import re
from pathlib import Path

import pytest

from agent_access import conf
from agent_access.policy import Policy
from config.environment import PROJECT_FOLDER

# What is read is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

GUIDE = (PROJECT_FOLDER / "agent_access/README.md").read_text(encoding="utf-8")
PROJECT = Path(__file__).parent
BLOCK = re.compile(r"^`(notes/\w+\.py)`$|^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_blocks():
    """Yield each block of the guide with the file that was named last before it."""
    file = None
    for name, block in BLOCK.findall(GUIDE):
        if name:
            file = PROJECT / name
        else:
            yield file, block


def test_every_block_of_the_guide_is_part_of_the_project():
    blocks = list(read_blocks())
    assert len(blocks) == GUIDE.count("```python")
    assert [block for file, block in blocks if block not in file.read_text()] == []


def read_first_cells(heading):
    section = GUIDE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [row.split("|")[1].strip() for row in section.splitlines() if row.startswith("| ")][1:]


def test_the_guide_names_every_setting():
    assert read_first_cells("Settings") == ["BASE_URL", *conf.DEFAULTS]


def test_the_guide_names_every_command():
    rooms = (PROJECT_FOLDER / "agent_access", PROJECT_FOLDER / "agent_access/oauth")
    files = [file for room in rooms for file in room.glob("management/commands/[a-z]*.py")]
    told = [cell.split()[0].strip("`") for cell in read_first_cells("Commands")]
    assert sorted(told) == sorted(file.stem for file in files)


def test_the_guide_names_every_check():
    source = "".join(path.read_text() for path in (PROJECT_FOLDER / "agent_access").rglob("*.py"))
    written = set(re.findall(r'"(?:agent_access\.)?([EW][0-9]{3})"', source))
    assert set(re.findall(r"agent_access\.([EW][0-9]{3})", GUIDE)) == written


def test_the_guide_names_all_that_a_policy_is_asked():
    asked = [name for name, member in vars(Policy).items() if name[0] != "_" and callable(member)]
    told = " ".join(read_first_cells("The policy"))
    assert sorted(re.findall(r"(\w+)\(", told)) == sorted(asked)
