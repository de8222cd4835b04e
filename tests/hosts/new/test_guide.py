"""The guide for other projects is made of one that runs, and names what there is."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from agent_access import conf
from agent_access.approvals.kinds import ApprovalKind
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


def read_rows(heading):
    """Return the cells of the first table below the heading, without its first row."""
    section = GUIDE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section[section.index("\n| ") + 1 :].split("\n\n")[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()][2:]


def read_first_cells(heading):
    return [first for first, *_ in read_rows(heading)]


def test_the_guide_names_every_setting():
    assert read_first_cells("Settings") == ["BASE_URL", *conf.DEFAULTS]


def test_the_guide_names_every_command():
    folder = PROJECT_FOLDER / "agent_access"
    files = folder.rglob("management/commands/[a-z]*.py")
    told = [cell.split()[0].strip("`") for cell in read_first_cells("Commands")]
    assert sorted(told) == sorted(file.stem for file in files)


def test_the_guide_names_every_check():
    source = "".join(path.read_text() for path in (PROJECT_FOLDER / "agent_access").rglob("*.py"))
    written = set(re.findall(r'"(?:agent_access\.)?([EW][0-9]{3})"', source))
    assert set(re.findall(r"agent_access\.([EW][0-9]{3})", GUIDE)) == written


def test_the_guide_names_all_that_a_policy_is_asked():
    asked = [name for name, member in vars(Policy).items() if name[0] != "_" and callable(member)]
    told = " ".join(read_first_cells("Who approves"))
    assert sorted(re.findall(r"(\w+)\(", told)) == sorted(asked)


def test_the_guide_names_all_that_a_kind_of_approvals_may_say():
    section = GUIDE.split("\n## Approvals for your own acts\n")[1].split("\n## ")[0]
    asked = {name for name in vars(ApprovalKind) | ApprovalKind.__annotations__ if name[0] != "_"}
    asked -= {"key_type", "pk_of"}  # read from the model
    assert {name for name in asked if not re.search(rf"\b{name}\b", section)} == set()


# Its `__all__` is of modules that are imported for what they register.
REGISTERING = {"agent_access.admin"}


def test_the_guide_names_all_that_is_public_and_nothing_else():
    rows = read_rows("What is public, and what may change")
    told = {re.findall(r"`([\w.]+)`", name)[0]: re.findall(r"`(\w+)`", all_) for name, all_ in rows}
    found = {name: sorted(import_module(name).__all__) for name in public_modules()}
    assert {name: sorted(names) for name, names in told.items()} == found
    assert [
        (name, each)
        for name, names in told.items()
        for each in names
        if not hasattr(import_module(name), each)
    ] == []


def public_modules():
    rooms = (PROJECT_FOLDER / "agent_access", PROJECT_FOLDER / "mcp_gateway")
    files = [file for room in rooms for file in room.rglob("*.py")]
    public = [file for file in files if re.search(r"^__all__ = ", file.read_text(), re.MULTILINE)]
    parts = (file.relative_to(PROJECT_FOLDER).with_suffix("").parts for file in public)
    return {".".join(part for part in each if part != "__init__") for each in parts} - REGISTERING


def test_a_link_within_the_guide_leads_to_a_heading():
    headings = re.findall(r"^#+ (.+)$", GUIDE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", GUIDE)) <= anchors
