"""README is short, and the tables and figures of the pages below docs/ are what the code says."""

import re
import tomllib
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class

from agent_access.errors import ToolError
from agent_access.listing import TOOLS_LIST
from agent_access.tools import API_PATH, registry
from config.environment import PROJECT_FOLDER, Environment
from invoicing.agent_host import SCOPES
from tests.breaking.faults import FAULTS

MOST_LINES = 150


def read(document: str) -> str:
    return (PROJECT_FOLDER / document).read_text(encoding="utf-8")


def read_table(document: str, heading: str) -> list[list[str]]:
    """Return the rows of the table that has this heading in its first column."""
    _, _, after = read(document).partition(f"\n| {heading} |")
    table = after.partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[1:]]


def test_readme_is_short():
    assert len(read("README.md").splitlines()) <= MOST_LINES


def read_tools() -> list[list[str]]:
    return read_table("docs/agents.md", "Method and path")


def test_the_table_of_tools_is_the_registry():
    rows = {(row[0], row[1], row[2]) for row in read_tools()[1:]}

    assert rows == {
        (f"{tool.method} {API_PATH}{tool.path}", tool.name, tool.scope) for tool in registry
    }
    assert read_tools()[0][0] == f"{TOOLS_LIST.method} {API_PATH}{TOOLS_LIST.path}"


def test_the_table_of_tools_says_their_titles():
    assert [row[3] for row in read_tools()[1:]] == [tool.title for tool in registry]


def test_the_table_of_errors_has_every_code_with_its_status():
    told = [(row[0], row[1].strip("`")) for row in read_table("docs/agents.md", "Status")]
    refusals = {
        (str(int(each.status)), each.code)
        for each in subclasses_of(ToolError)
        if each.__module__.split(".")[0] in {"agent_access", "invoicing", "mcp_gateway"}
    }
    assert sorted(told) == sorted(refusals)


def subclasses_of(kind: type[ToolError]) -> Iterator[type[ToolError]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses_of(each)


def test_the_owner_reads_the_scopes_in_the_words_of_the_consent_page():
    told = {row[0]: row[1] for row in read_table("docs/owner.md", "Scope")}

    assert told == {scope: terms.description for scope, terms in SCOPES.items()}


def test_the_table_of_settings_is_the_environment():
    told = [row[0] for row in read_table("docs/settings.md", "Name")]

    assert told == list(Environment.model_fields)


def test_the_example_environment_has_every_setting():
    names = re.findall(r"^#?([A-Z_]+)=", read(".env.example"), re.MULTILINE)

    assert names == list(Environment.model_fields)


def test_the_table_of_commands_names_every_command_with_its_options():
    rows = read_table("docs/commands.md", "Command")
    told = {row[0].strip("`").split()[0]: row[0] for row in rows}
    commands = {
        name: load_command_class(app, name).create_parser("manage.py", name)
        for name, app in get_commands().items()
        if app in {"agent_access", "agent_access.oauth", "agent_access.telling", "invoicing"}
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


def test_the_figures_of_crashes_are_those_of_the_last_run():
    report = read("benchmarks/results/breaking.md")
    rows = re.findall(r"^\| (.+?) +\| +([\d.*]+) \|$", report, re.MULTILINE)
    figures = {name.strip("*"): float(figure.strip("*")) for name, figure in rows}
    interrupted, writes = figures.pop("interrupted writes"), figures["writes"]
    minutes, invoices = figures["minutes"], figures["invoices issued"]

    told = f"In {minutes:g} minutes {interrupted:,.0f} of {writes:,.0f} writes were interrupted,"
    page = " ".join(read("docs/quality.md").split())
    assert f"{told} and {invoices:,.0f} invoices issued." in page
    wrong = [name.strip("*") for name, _ in rows if name.startswith("**")]
    assert len(wrong) == 34
    assert [name for name in wrong if figures.get(name)] == []


def test_the_table_of_faults_has_all_that_a_run_can_be_asked_for():
    told = {row[0].strip("`") for row in read_table("docs/quality.md", "`--fault`")}
    assert told == FAULTS.keys() - {"kills"}


def test_plain_defaults_in_the_table_of_settings_are_the_real_ones():
    defaults = {
        name: str(field.default)
        for name, field in Environment.model_fields.items()
        if isinstance(field.default, int) and not isinstance(field.default, bool)
    }

    told = {row[0]: row[1] for row in read_table("docs/settings.md", "Name")}

    assert {name: told[name] for name in defaults} == defaults


def test_every_dependency_is_named_with_the_reason_for_it():
    project = tomllib.loads(read("pyproject.toml"))
    pins = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = [plain(re.split(r"[\[=]", pin)[0]) for pin in pins]
    libraries = read("docs/architecture.md").partition("\n## Libraries\n")[2]
    first_cells = re.findall(r"^\| (.+?) \|", libraries, re.MULTILINE)
    told = [plain(name) for cell in first_cells for name in cell.split(",")]
    assert [name for name in names if not any(each.startswith(name) for each in told)] == []


def plain(name: str) -> str:
    """Return the letters and digits of a package's name, or of how people write it."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
