"""The README's tables are what the code says."""

import re
import tomllib
from pathlib import Path

from django.core.management import get_commands, load_command_class

from agent_access.listing import TOOLS_LIST
from agent_access.oauth.management.refused import RefusedCommand
from agent_access.tools import API_PATH, registry
from config.environment import Environment

README = Path(__file__).parent.parent / "README.md"
ENV_EXAMPLE = README.parent / ".env.example"
BREAKING = README.parent / "benchmarks/results/breaking.md"


def read_table(heading: str) -> list[list[str]]:
    section = README.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[2:]]


def test_the_table_of_tools_is_the_registry():
    rows = {(row[0], row[1], row[2]) for row in read_table("Tools")[1:]}

    assert rows == {
        (f"{tool.method} {API_PATH}{tool.path}", tool.name, tool.scope) for tool in registry
    }
    assert read_table("Tools")[0][0] == f"{TOOLS_LIST.method} {API_PATH}{TOOLS_LIST.path}"


def test_the_table_of_tools_says_their_titles():
    assert [row[3] for row in read_table("Tools")[1:]] == [tool.title for tool in registry]


def test_the_table_of_settings_is_the_environment():
    assert [row[0] for row in read_table("Settings")] == list(Environment.model_fields)


def test_the_example_environment_has_every_setting():
    text = ENV_EXAMPLE.read_text(encoding="utf-8")

    assert re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE) == list(Environment.model_fields)


def test_the_table_of_commands_names_every_command_with_its_options():
    told = {row[0].strip("`").split()[0]: row[0] for row in read_table("Operator commands")}
    commands = {
        name: load_command_class(app, name).create_parser("manage.py", name)
        for name, app in get_commands().items()
        if app in {"agent_access", "agent_access.oauth", "invoicing"}
        and not isinstance(load_command_class(app, name), RefusedCommand)
    }
    assert set(told) == set(commands)
    general = {"version", "verbosity", "settings", "pythonpath", "traceback", "no_color"}
    general |= {"force_color", "skip_checks", "help", "database"}
    for name, parser in commands.items():
        options = [action for action in parser._actions if action.dest not in general]
        unsaid = [
            option.dest
            for option in options
            if option.option_strings
            and not any(each in told[name] for each in option.option_strings)
        ]
        assert unsaid == [], name


def test_what_is_left_when_everything_breaks_is_that_of_the_last_run():
    rows = re.findall(r"^\| (.+?) +\| +([\d.*]+) \|$", BREAKING.read_text("utf-8"), re.MULTILINE)
    figures = {name.strip("*"): float(figure.strip("*")) for name, figure in rows}
    interrupted, writes = figures.pop("interrupted writes"), figures["writes"]
    minutes, invoices = figures["minutes"], figures["invoices issued"]

    told = f"In {minutes:g} minutes {interrupted:,.0f} of {writes:,.0f} writes were interrupted,"
    readme = " ".join(README.read_text("utf-8").split())
    assert f"{told} and {invoices:,.0f} invoices issued." in readme
    wrong = [name.strip("*") for name, _ in rows if name.startswith("**")]
    assert len(wrong) == 13
    assert [name for name in wrong if figures.get(name)] == []


def test_plain_defaults_in_the_table_of_settings_are_the_real_ones():
    defaults = {
        name: str(field.default)
        for name, field in Environment.model_fields.items()
        if isinstance(field.default, int) and not isinstance(field.default, bool)
    }

    told = {row[0]: row[1] for row in read_table("Settings")}

    assert {name: told[name] for name in defaults} == defaults


def test_every_dependency_is_named_with_the_reason_for_it():
    project = tomllib.loads((README.parent / "pyproject.toml").read_text(encoding="utf-8"))
    pins = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = [plain(re.split(r"[\[=]", pin)[0]) for pin in pins]
    told = [plain(name) for row in read_table("What it stands on") for name in row[0].split(",")]
    assert [name for name in names if not any(each.startswith(name) for each in told)] == []


def plain(name: str) -> str:
    """Return the letters and digits of a package's name, or of how people write it."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
