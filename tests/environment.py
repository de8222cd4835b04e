"""A pytest plugin that sets the environment of a test run before Django reads it."""

import gc
import os
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.postgresql import find_binaries, run_cluster
from tests.static_files import collect_static_files

DATABASES = ("sqlite", "postgresql")

# Every setting but the database, so that neither a developer's environment nor the quickstart's
# file of settings has an effect on tests.
SETTINGS = {
    "BASE_URL": "https://invoices.example",
    "SECRET_KEY": "a-key-for-tests-which-guards-nothing-at-all-whatsoever",
    "SECRET_KEY_FALLBACKS": "",
    "CACHE_URL": "",
    "DEMO_MODE": "off",
    "TRUSTED_PROXIES": "0",
    "LIMIT_PER_CONNECTION": "60",
    "LIMIT_PER_ADDRESS": "60",
    "LIMIT_REGISTER": "10",
    "LIMIT_TOKEN": "30",
    "LOG_FORMAT": "text",
    "METRICS_ADDRESS": "",
    "WEB_PUSH_KEY": "",
    "EMAIL_URL": "",
    "EMAIL_FROM": "",
    "STAMP_URL": "",
    "TRACES_URL": "",
}

DATABASE_URL = pytest.StashKey[str | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database", choices=DATABASES, default="sqlite", help="The database of this test run."
    )
    parser.addoption(
        "--prove", action="store_true", help="Run the tests that take long, and only these."
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Set the environment before pytest-django loads the settings, which is before any conftest."""
    cleanup = ExitStack()
    early_config.add_cleanup(cleanup.close)
    folder = Path(cleanup.enter_context(TemporaryDirectory(prefix="invoicing-")))
    url: str | None = f"sqlite:///{folder / 'invoicing.sqlite3'}"
    if early_config.known_args_namespace.database == "postgresql":
        url = _find_postgresql(cleanup, folder)
    early_config.stash[DATABASE_URL] = url
    os.environ.update(SETTINGS, DATABASE_URL=url or "sqlite:///none")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        collect_static_files()  # once: it would take each worker two seconds
    return (yield)


def _find_postgresql(cleanup: ExitStack, folder: Path) -> str | None:
    """Return DATABASE_URL, or the URL of a server started here, or None if none is found."""
    named = os.environ.get("DATABASE_URL", "")
    if named.startswith(("postgres://", "postgresql://")):
        return named
    if binaries := find_binaries():
        folder.chmod(0o711)  # so that the server's account can enter its folder inside
        return cleanup.enter_context(run_cluster(binaries, folder / "postgresql")).url()
    if os.environ.get("REQUIRE_POSTGRES") == "1":
        raise pytest.UsageError("REQUIRE_POSTGRES=1, but no PostgreSQL was found to test with.")
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if config.stash[DATABASE_URL]:
        return None
    print("Skipped on PostgreSQL: none was found (DATABASE_URL, PG_BIN, wheel, system).")  # noqa: T201  said to a person
    return int(pytest.ExitCode.OK)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt collected tests and modules from garbage collection, since they stay to the end.

    To scan them, and to do so after every few hundred objects, took a fifth of the run.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()
    return result


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked for the other database, and on PostgreSQL those that use none.

    Those that take long are for `./dev prove`.
    """
    database = config.getoption("database")
    proves = config.getoption("prove")
    others = [name for name in DATABASES if name != database]
    left_out = [
        item
        for item in items
        if any(map(item.get_closest_marker, others))
        or (item.get_closest_marker("prove") is not None) != proves
        or (database != DATABASES[0] and _asks_no_database(item))
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _asks_no_database(item: pytest.Item) -> bool:
    is_marked = any(map(item.get_closest_marker, ("django_db", *DATABASES)))
    asked: list[str] = getattr(item, "fixturenames", [])
    return not is_marked and {"db", "transactional_db"}.isdisjoint(asked)
