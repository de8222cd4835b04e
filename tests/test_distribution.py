"""The wheel that other projects install: all of both apps, and what it needs."""

import ast
import subprocess
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path
from sys import stdlib_module_names
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import agent_access
from config.environment import PROJECT_FOLDER
from tests.wheel import build_wheel, make_environment

# What is built is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

APPS = ("agent_access", "mcp_gateway")
METADATA = tomllib.loads((PROJECT_FOLDER / "agent_access/pyproject.toml").read_text())["project"]
# The rooms that need a package which only an extra installs.
EXTRAS = {
    "agent_access/http": "drf",
    "agent_access/urls.py": "drf",
    "mcp_gateway": "mcp",
    "agent_access/evidence/package.py": "evidence",
    "agent_access/evidence/exporting.py": "evidence",
    "agent_access/management/commands/export_evidence.py": "evidence",
    "agent_access/oauth": "oauth",
    "agent_access/passkeys": "passkeys",
    "agent_access/telling": "push",
    "agent_access/stamps.py": "stamps",
    "agent_access/management/commands/stamp_heads.py": "stamps",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_file_of_both_apps(wheel):
    kept = {
        path.relative_to(PROJECT_FOLDER).as_posix()
        for app in APPS
        for path in (PROJECT_FOLDER / app).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == kept


def test_the_wheel_says_its_version_and_that_it_has_types(wheel, tmp_path):
    python = make_environment(tmp_path, wheel)
    ask = (
        "import agent_access, mcp_gateway; from importlib.metadata import version;"
        "print(agent_access.__version__, version('django-agent-access'), agent_access.__file__)"
    )
    said = subprocess.run(  # noqa: S603  our own command
        [python, "-c", ask], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout.split()
    assert said[:2] == [agent_access.__version__] * 2
    assert Path(said[2]).is_relative_to(tmp_path)
    with ZipFile(wheel) as archive:
        assert {f"{app}/py.typed" for app in APPS} <= set(archive.namelist())


def test_the_wheel_names_no_licence(wheel):
    """Its owner has not chosen one, and the README says so."""
    with ZipFile(wheel) as archive:
        [name] = (name for name in archive.namelist() if name.endswith("/METADATA"))
        lines = archive.read(name).decode().splitlines()
    assert [line for line in lines if line.startswith(("License", "Classifier: License"))] == []


def read_imports(path):
    """Yield the top-level modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


def normalise(name):
    return name.lower().replace("_", "-")


def extra_of(path):
    relative = path.relative_to(PROJECT_FOLDER)
    return next((extra for room, extra in EXTRAS.items() if relative.is_relative_to(room)), None)


def packages_needed():
    """Return the packages that the apps import, each with the extras whose rooms do."""
    distributions = packages_distributions()  # reads what is installed, all of it
    needed: dict[str, set[str | None]] = {}
    for app in APPS:
        for path in (PROJECT_FOLDER / app).rglob("*.py"):
            for module in {*read_imports(path)} - {*stdlib_module_names, *APPS}:
                package = normalise(distributions[module][0])
                needed.setdefault(package, set()).add(extra_of(path))
    needed.pop("pydantic-core", None)  # part of pydantic, as its documentation has it
    needed.pop("drf-spectacular")  # what it extends is loaded by a project that has it
    needed.pop("pytest")  # loads the plugin for tests, which is of no use without it
    return needed


def requirements(extra):
    texts = METADATA["optional-dependencies"][extra] if extra else METADATA["dependencies"]
    return {normalise(each.name): each for each in map(Requirement, texts)}


def test_each_package_is_required_where_it_is_imported():
    needed = packages_needed()
    always = {name for name, extras in needed.items() if None in extras}
    assert set(requirements(None)) == always
    for extra in METADATA["optional-dependencies"]:
        wanted = {name for name, extras in needed.items() if extra in extras}
        assert set(requirements(extra)) == wanted - always


def test_the_versions_that_these_tests_run_with_are_allowed():
    for extra in (None, *METADATA["optional-dependencies"]):
        for name, requirement in requirements(extra).items():
            assert requirement.specifier.contains(version(name)), requirement


def test_each_module_that_is_imported_without_an_extra_is_importable_without_it():
    """REST framework and the types of MCP serve their own rooms only."""
    rooms = [room.replace("/", ".") for room in EXTRAS]
    assert not [
        (path, module)
        for path in (PROJECT_FOLDER / "agent_access").rglob("*.py")
        if extra_of(path) is None
        for module in read_modules(path)
        if module.startswith(tuple(rooms))
    ]


def read_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
