"""The rules of the house are checked by tools; here the tools are shown to check."""

import io
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tokenize import NAME, STRING

import pytest
from pydantic import SecretStr

from config.environment import PROJECT_FOLDER, Environment

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

ROOMS = ("agent_access", "config", "invoicing", "mcp_gateway")
PROJECT = tomllib.loads((PROJECT_FOLDER / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {
    contract["id"]: contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]
}
LOCK_FILES = ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt")
CLIENTS_LOCK = "tests/mcp_clients/python/requirements.txt"

# Contract, file, and the line that breaks the contract when the file gets it.
BREACHES = [
    ("house", "agent_access/tools.py", "import invoicing.money"),
    ("house", "agent_access/tools.py", "import config.settings"),
    ("house", "agent_access/tools.py", "import mcp_gateway.schemas"),
    ("house", "agent_access/tools.py", "import config.operations.health"),
    ("house", "invoicing/money.py", "import config.environment"),
    ("house", "mcp_gateway/schemas.py", "import invoicing.money"),
    ("house", "invoicing/money.py", "import mcp_gateway.jsonrpc"),
    ("agent-access-layers", "agent_access/models/receipts.py", "import agent_access.execution"),
    ("agent-access-layers", "agent_access/execution.py", "import agent_access.http.views"),
    ("agent-access-layers", "agent_access/tools.py", "import agent_access.models"),
    ("agent-access-layers", "agent_access/http/views.py", "import agent_access.oauth.server"),
    ("agent-access-layers", "agent_access/oauth/server.py", "import agent_access.http.views"),
    ("agent-access-layers", "agent_access/authentication.py", "import agent_access.oauth.tokens"),
    ("agent-access-layers", "agent_access/execution.py", "import agent_access.admin.owners"),
    ("agent-access-layers", "agent_access/admin/forms.py", "import agent_access.oauth.models"),
    ("agent-access-layers", "agent_access/verification.py", "import agent_access.stamps"),
    ("agent-access-layers", "agent_access/room_without_a_floor.py", ""),
    ("agent-access-layers", "agent_access/approvals/engine.py", "import agent_access.http.views"),
    ("agent-access-layers", "agent_access/execution.py", "import agent_access.approvals.engine"),
    ("approvals-layers", "agent_access/approvals/kinds.py", "import agent_access.approvals.engine"),
    ("approvals-layers", "agent_access/approvals/engine.py", "import agent_access.approvals.views"),
    ("agent-access-layers", "agent_access/approvals/engine.py", "import agent_access.telling"),
    (
        "passkeys-layers",
        "agent_access/passkeys/models.py",
        "import agent_access.passkeys.challenges",
    ),
    ("telling-layers", "agent_access/telling/sending.py", "import agent_access.telling.outbox"),
    ("house", "agent_access/approvals/kinds.py", "import invoicing.errors"),
    ("plain", "invoicing/totals.py", "import django.conf"),
    ("plain", "invoicing/fixed_point.py", "import pydantic"),
    ("plain", "invoicing/search/words.py", "import invoicing.models"),
    ("services", "invoicing/services/drafts.py", "import agent_access.calls"),
    ("services", "invoicing/services/drafts.py", "import invoicing.agent_tools.inputs"),
    ("agents", "invoicing/pages.py", "import agent_access.connections"),
    ("mcp-gateway", "mcp_gateway/views.py", "import agent_access.http.views"),
    ("rest-framework", "agent_access/admission.py", "import rest_framework.request"),
    ("rest-framework", "mcp_gateway/endpoint.py", "import rest_framework.views"),
    ("typst", "invoicing/pdf/making.py", "import typst"),
    ("pdf-child", "invoicing/pdf/child.py", "import django.conf"),
    ("pdf-child", "invoicing/pdf/child.py", "import invoicing.models"),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the source that a test may spoil."""
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT_FOLDER / room, tmp_path / room, ignore=ignored)
    shutil.copy(PROJECT_FOLDER / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(folder: Path) -> tuple[int, dict[str, str]]:
    """Return the exit status, and by the name of each broken contract what is said of it."""
    done = subprocess.run(  # noqa: S603  our own command
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Contracts" in done.stdout, done.stdout + done.stderr
    broken = re.findall(r"^(.+) BROKEN", done.stdout, re.MULTILINE)
    # A heading is its text, and a line under it.
    parts = re.split(r"^(.+)\n-+$", done.stdout, flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    return done.returncode, {name: told[name] for name in broken}


def test_the_source_keeps_its_import_contracts(copy) -> None:
    assert lint_imports(copy) == (0, {})


def test_an_import_contract_breaks_when_it_is_breached(copy) -> None:
    for _, path, line in BREACHES:
        with (copy / path).open("a", encoding="utf-8") as module:
            module.write(f"\n{line}\n")
    status, told = lint_imports(copy)
    assert status == 1
    unseen = [
        breach for breach in BREACHES if not re.search(sign_of(breach), told[CONTRACTS[breach[0]]])
    ]
    assert unseen == []


def sign_of(breach: tuple[str, str, str]) -> str:
    """Return a pattern of what the linter says of it: an import, or a module without a layer."""
    _, path, line = breach
    module = path.removesuffix(".py").replace("/", ".")
    if not line:
        return rf"{module.rpartition('.')[2]}\b"
    # Of a foreign package it says the first name only.
    package = line.removeprefix("import ").partition(".")[0]
    return rf"{re.escape(module)} -> {package}\b"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ruff check", "invoicing/migrations/0001_squashed_0010_fewer_indexes.py"),
        ("ruff format --check", "invoicing/migrations/0001_squashed_0010_fewer_indexes.py"),
        ("codespell_lib", "tests/mcp_clients/package-lock.json"),
    ],
)
def test_what_was_made_by_a_program_is_passed_over_also_where_a_commit_names_it(command, name):
    tool = [sys.executable, "-m", *command.split()]
    done = subprocess.run(  # noqa: S603  our own tools
        [*tool, name], cwd=PROJECT_FOLDER, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_import_contract_is_shown_to_break() -> None:
    assert {contract for contract, _, _ in BREACHES} == set(CONTRACTS)


def test_every_import_contract_says_why() -> None:
    lines = (PROJECT_FOLDER / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    heads = [n for n, line in enumerate(lines) if line == "[[tool.importlinter.contracts]]"]
    assert [lines[n - 1][:2] for n in heads] == ["# "] * len(CONTRACTS)


def pinned(requirements: list[str]) -> dict[str, str]:
    """Return the version of each package, by its normalised name without extras."""
    pins = (re.match(r"([\w.-]+)(?:\[[\w,]+\])?==([\w.]+)", line) for line in requirements)
    return {pin[1].lower().replace("_", "-"): pin[2] for pin in pins if pin}


def locked(name: str) -> dict[str, str]:
    return pinned((PROJECT_FOLDER / name).read_text(encoding="utf-8").splitlines())


def test_every_dependency_is_pinned_and_locked() -> None:
    groups = PROJECT["dependency-groups"]
    beside_dev = [each for each in groups["bench"] if each != {"include-group": "dev"}]
    wanted = (PROJECT["project"]["dependencies"], groups["dev"], beside_dev)
    for name, pins in zip(LOCK_FILES, wanted, strict=True):
        assert len(pinned(pins)) == len(pins)
        assert pinned(pins).items() <= locked(name).items()


def test_every_client_in_python_is_pinned_and_locked() -> None:
    wanted = (PROJECT_FOLDER / CLIENTS_LOCK).with_suffix(".in").read_text(encoding="utf-8")
    pins = re.findall(r"^[^#\s]+", wanted, re.MULTILINE)
    assert len(pinned(pins)) == len(pins) > 0
    assert pinned(pins).items() <= locked(CLIENTS_LOCK).items()


def test_each_lock_holds_the_one_before() -> None:
    for fewer, more in pairwise(LOCK_FILES):
        assert locked(fewer).items() <= locked(more).items()


@pytest.mark.parametrize("name", [*LOCK_FILES, CLIENTS_LOCK])
def test_a_lock_file_has_a_hash_for_every_package_and_names_no_place_of_one_machine(name) -> None:
    lock = (PROJECT_FOLDER / name).read_text(encoding="utf-8")
    assert re.findall(r"https?:|file:|index-url|find-links|(?<!\w)/\w+/", lock) == []
    entries = re.findall(r"^[\w.-]+(?:\[.*?\])?==.*(?:\n    .*)*", lock, re.MULTILINE)
    assert len(entries) == len(locked(name))
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def source_files() -> list[Path]:
    folders = [PROJECT_FOLDER / room for room in (*ROOMS, "tests", "benchmarks")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    return [path for path in files if "migrations" not in path.parts]


# What agent_access and mcp_gateway, which know no host, must not say, alone or in a name: words of
# invoicing, and of its sample company. A verb such as "to draft" is none that they need.
WORDS_OF_INVOICING = re.compile(
    r"""invoic | halden
    | (?<![a-z]) (?:
        amounts? | bookkeep\w* | bookings? | compan(?:y|ies) | credit[ _]notes? | currenc(?:y|ies)
        | customers? | discounts? | documents? | drafts? | issu(?:e|es|ed|ing) | line[ _]items?
        | minor[ _]units? | money | papers? | payments? | prices? | tax(?:es)? | vat
        | betr[aä]ge? | entw[uü]rfe? | kunden? | rechnung(?:en)? | steuern?
    ) (?![a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
# Where such a word is somebody else's, by what it belongs to.
WORDS_OF_OTHERS = {
    "the specification of the HTTP tools": r"OpenAPI(?: 3\.1)? documents?",
    "what an OAuth server or client publishes of itself": r"metadata[ _]documents?",
    "a draft of the IETF": r"draft-ietf-[\w-]+",
    "what an OAuth server does": r"issues?[ _]tokens|client_id_issued_at",
    "the page, to a browser's script": r"\bdocument\.\w+",
}
# In whose modules one word means what a standard calls so.
MODULES_OF_OTHERS = {
    "document": (
        "agent_access/oauth/",
        "agent_access/locale/",
        "agent_access/openapi",
        "agent_access/http/spectacular.py",
    ),
}


def words_of_invoicing(path: Path) -> set[str]:
    name = path.relative_to(PROJECT_FOLDER).as_posix()
    others = re.compile("|".join(WORDS_OF_OTHERS.values()), re.IGNORECASE)
    text = others.sub("", " ".join(path.read_text(encoding="utf-8").split()))
    found = {word.lower() for word in WORDS_OF_INVOICING.findall(text)}
    theirs = {word for word, start in MODULES_OF_OTHERS.items() if name.startswith(start)}
    return {word for word in found if word.removesuffix("s") not in theirs}


def test_the_rooms_that_may_be_lifted_out_say_no_word_of_invoicing() -> None:
    folders = [PROJECT_FOLDER / room for room in ("agent_access", "mcp_gateway")]
    kinds = {".css", ".html", ".js", ".md", ".po", ".py", ".sql", ".toml"}
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    found = {str(path.relative_to(PROJECT_FOLDER)): words_of_invoicing(path) for path in files}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "text",
    [
        "your invoices",
        "Read the document.",
        "draft_id",
        "a customer",
        "nothing is issued",
        "Tax rate",
    ],
)
def test_a_word_of_invoicing_is_found(tmp_path, monkeypatch, text) -> None:
    monkeypatch.setattr("tests.test_house.PROJECT_FOLDER", tmp_path)
    (tmp_path / "room.py").write_text(f'"""{text}"""', encoding="utf-8")
    assert len(words_of_invoicing(tmp_path / "room.py")) == 1


def test_the_pages_of_agent_access_stand_in_a_frame_of_their_own() -> None:
    templates = PROJECT_FOLDER.glob("agent_access/**/templates/**/*.html")
    # Those of the admin stand in the admin's own frame.
    pages = [path for path in templates if "admin" not in path.parts]
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages}
    frame = '{% extends "agent_access/frame.html" %}'
    own = {name for name, text in texts.items() if text.startswith(frame)}
    included = re.compile(r'{% include "\w+/(\w+\.html)"')
    parts = {part for text in texts.values() for part in included.findall(text)}
    # Which one asks for a signature, whoever signs says.
    assert set(texts) - own == {"frame.html", "signing.html", *parts}
    # What is of this project is the frame around them, and a link to evidence.
    replaced = PROJECT_FOLDER.glob("templates/agent_access/**/*.html")
    assert sorted(path.name for path in replaced) == [
        "change_list.html",
        "frame.html",
        "style.html",
    ]


def test_the_name_of_every_error_ends_in_error() -> None:
    ours = [each for each in below(BaseException) if each.__module__.split(".")[0] in ROOMS]
    # Django puts errors of its own into each model.
    raised = [each.__qualname__ for each in ours if "." not in each.__qualname__]
    assert len(raised) > 40
    assert [name for name in raised if not name.endswith("Error")] == []


def below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def test_every_lint_ignore_has_its_code_and_its_reason_on_the_line() -> None:
    ignores = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma: no cover).*")
    reasoned = re.compile(
        r"# (?:noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*|type: ignore\[[\w, -]+\]|pragma: no cover)"
        r" {1,2}[-#(]? ?\w.+"
    )
    found = [
        f"{path.relative_to(PROJECT_FOLDER)}: {ignore}"
        for path in source_files()
        for ignore in ignores.findall(path.read_text(encoding="utf-8"))
        if path != Path(__file__) and not reasoned.fullmatch(ignore)
    ]
    assert found == []


def test_the_example_of_the_environment_shows_the_defaults() -> None:
    example = (PROJECT_FOLDER / ".env.example").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^#([A-Z_]+)=(.*)$", example, re.MULTILINE))
    defaults = Environment.model_construct(SECRET_KEY=SecretStr(""))
    assert shown == {
        **{name: str(getattr(defaults, name)) for name in shown},
        "DEMO_MODE": "off",
        "DATABASE_URL": "sqlite:///var/invoicing.sqlite3",
    }


def product_files(*kinds: str) -> list[Path]:
    """Return the files of the product, without the sample company and the quickstart's example."""
    folders = [PROJECT_FOLDER / room for room in (*ROOMS, "templates")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    aside = {"sample_company", "quickstart", "__pycache__"}
    return [path for path in files if not aside.intersection(path.parts)]


def names_in(path: Path) -> set[str]:
    """Return the names and the texts of a module, or the names that a template looks up."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return set(re.findall(r"\.(\w+)", " ".join(re.findall(r"{[{%].*?[}%]}", text))))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string.strip("\"'") for token in tokens if token.type in {NAME, STRING}}


@pytest.mark.parametrize("field", ["reference", "unit"])
def test_an_optional_text_of_a_draft_is_named_in_six_files(field) -> None:
    naming = [path for path in product_files(".py", ".html") if field in names_in(path)]
    # The OpenAPI document's references are none, and an e-invoice has terms for few texts.
    files = {path.relative_to(PROJECT_FOLDER).as_posix() for path in naming}
    assert len(files - {"agent_access/openapi.py", "invoicing/e_invoices/reading.py"}) <= 6, files


# What may execute a statement written by hand (ADR 13), and what speaks to the database about
# itself: its time, transactions, triggers, constraints and settings.
BY_HAND = {
    "agent_access/audit.py",
    "agent_access/callers.py",
    "agent_access/receipts.py",
    "invoicing/agent_tools/reading.py",
    "invoicing/search/table.py",
}
ABOUT_THE_DATABASE = {
    "agent_access/database/clock.py",
    "agent_access/database/constraints.py",
    "agent_access/database/transactions.py",
    "agent_access/database/triggers.py",
    "config/postgresql/base.py",
    "config/operations/checks.py",
    "config/operations/readiness.py",
}


def test_sql_is_written_by_hand_in_the_named_modules_only() -> None:
    by_hand = re.compile(r"cursor\.execute|\.executemany\(|\.raw\(|RawSQL|\.extra\(|\bcursor\(")
    found = {
        path.relative_to(PROJECT_FOLDER).as_posix()
        for path in product_files(".py")
        if "migrations" not in path.parts and by_hand.search(path.read_text(encoding="utf-8"))
    }
    assert found - BY_HAND - ABOUT_THE_DATABASE == set()
    assert found >= BY_HAND
