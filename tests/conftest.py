"""The cast of the tests: an owner, a delegate with an agent, a colleague and a stranger."""

import logging
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.backends.signals import connection_created
from django.db.transaction import Atomic
from django.dispatch import receiver
from django.test import override_settings
from django.utils import timezone

from agent_access.connections import ConnectionRequest, create_connection
from agent_access.database import clock
from agent_access.models import Connection
from agent_access.switches import turn_access, turn_sign_in
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.models import Company, Customer, Document, TaxRate, User
from tests.agents import HttpAgent
from tests.environment import DATABASES
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    make_draft,
)
from tests.mcp_agent import McpAgent

pytest_plugins = [
    "agent_access.testing.plugin",
    "tests.browsers",
    "tests.https_server",
    "tests.secrets",
    "tests.valkey",
    "tests.workers",
]


# The plugin lets the database have the clock of the test.
ASK_DATABASE = clock._ask_database


@receiver(connection_created)
def _sort_nothing_by_chance(connection: Any, **_: Any) -> None:
    """Return unsorted rows backwards on SQLite, so that no test relies on their order."""
    if connection.vendor == "sqlite":
        connection.connection.execute("PRAGMA reverse_unordered_selects = ON")


@pytest.fixture(autouse=True, scope="session")
def _every_module_is_loaded() -> None:
    """Import all modules, so that none is first imported while a test replaces something."""
    for name in ("agent_access", "invoicing", "mcp_gateway", "config.operations"):
        for module in walk_packages(import_module(name).__path__, f"{name}."):
            import_module(module.name)


@pytest.fixture(autouse=True, scope="session")
def _a_test_is_outside_of_all_transactions() -> Iterator[None]:
    """Give an outermost block a savepoint, though the test itself runs in a transaction."""
    enter = Atomic.__enter__

    def enter_as_outermost(block: Any) -> None:
        around = transaction.get_connection(block.using).atomic_blocks
        if around and around[-1]._from_testcase:
            block.savepoint = True
        enter(block)

    with patch.object(Atomic, "__enter__", enter_as_outermost):
        yield


@pytest.fixture
def _the_database_has_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_ask_database", ASK_DATABASE)


@pytest.fixture(autouse=True)
def _bugs_are_raised(settings: Any) -> None:
    """Raise unforeseen exceptions, instead of answering 503."""
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "RAISE_UNFORESEEN": True}


@pytest.fixture
def as_in_production(settings: Any) -> None:
    """Answer the unforeseen with 503 instead of raising it."""
    settings.AGENT_ACCESS |= {"RAISE_UNFORESEEN": False}


@pytest.fixture(autouse=True)
def _fresh_limits() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def many_calls(settings: Any) -> None:
    """Let a test make more calls than a minute allows."""
    limits = ("LIMIT_PER_CONNECTION", "LIMIT_PER_ADDRESS", "LIMIT_REGISTER", "LIMIT_TOKEN")
    settings.AGENT_ACCESS |= dict.fromkeys(limits, 10**6)


@pytest.fixture
def request_lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that returns the facts of the request lines logged so far."""
    caplog.set_level(logging.INFO, logger="config.operations.request_log")
    return lambda: [vars(each)["facts"] for each in caplog.records if hasattr(each, "facts")]


@pytest.fixture
def _clock_stands_still(time_machine: Any) -> None:
    """Stop the clock, so that no rate limit's window ends on a slow machine."""
    time_machine.move_to(timezone.now(), tick=False)


@pytest.fixture(autouse=True, scope="session")
def _static_files_from_the_source() -> Iterator[None]:
    """Serve static files from the source, without collectstatic."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**settings.STORAGES, "staticfiles": plain},
        WHITENOISE_AUTOREFRESH=True,
        WHITENOISE_USE_FINDERS=True,
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def _passwords_are_quick() -> Iterator[None]:
    """Use a quick hash: the real one takes a tenth of a second by design."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture
def company(db: None) -> Company:
    return CompanyFactory.create(owner__email="olivia@halden.example")


@pytest.fixture
def owner(company: Company) -> User:
    return company.owner


@pytest.fixture
def superuser(company: Company) -> User:
    return UserFactory.create(name="Sue Super", is_staff=True, is_superuser=True)


@pytest.fixture
def delegate(company: Company) -> User:
    """The person for whom the agent acts: with all permissions, seeing all customers."""
    return UserFactory.create(name="Dana Delegate", permissions=tuple(Permission))


@pytest.fixture
def colleague(company: Company) -> User:
    """Another person with the same rights."""
    return UserFactory.create(name="Colin Colleague", permissions=tuple(Permission))


@pytest.fixture
def stranger(company: Company) -> User:
    """A person with all permissions but to see all customers, who manages none."""
    permissions = [each for each in Permission if each != Permission.VIEW_ALL_CUSTOMERS]
    return UserFactory.create(name="Stan Stranger", permissions=permissions)


@pytest.fixture
def customer(db: None) -> Customer:
    return CustomerFactory.create(name="Acme Ltd")


@pytest.fixture
def tax_rate(db: None) -> TaxRate:
    return TaxRateFactory.create(name="VAT standard")


@pytest.fixture
def draft(delegate: User, customer: Customer) -> Document:
    """A draft that a person made, at lock version 1."""
    return make_draft(user=delegate, customer=customer)


@pytest.fixture
def access_on(company: Company) -> None:
    turn_access(on=True)


@pytest.fixture
def sign_in_on(access_on: None) -> None:
    turn_sign_in(on=True)


ConnectAgent = Callable[..., tuple[Connection, HttpAgent]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests in tests/interface over HTTP and over MCP, but for those marked `http`.

    The transport does not depend on the database, so MCP is tested on one database only.
    """
    definition = metafunc.definition
    if "agent_class" not in metafunc.fixturenames or "interface" not in definition.path.parts:
        return
    if definition.get_closest_marker("http"):
        return
    has_run = metafunc.config.getoption("database") != DATABASES[0]
    if has_run and not definition.get_closest_marker("postgresql"):
        metafunc.parametrize("agent_class", [HttpAgent], ids=["http"])
    else:
        metafunc.parametrize("agent_class", [HttpAgent, McpAgent], ids=["http", "mcp"])


@pytest.fixture
def agent_class() -> type[HttpAgent]:
    """The transport: HTTP, and in tests/interface MCP too."""
    return HttpAgent


@pytest.fixture
def connect(access_on: None, agent_class: type[HttpAgent]) -> ConnectAgent:
    """Return a function that makes a connection for a user, and an agent with its credential."""

    def connect_agent(
        user: User, *, scopes: Sequence[str] | None = None, days: int = 30, name: str = "Test agent"
    ) -> tuple[Connection, HttpAgent]:
        request = ConnectionRequest(
            user=user, scopes=registry.scopes if scopes is None else scopes, days=days, name=name
        )
        connection, credential = create_connection(request)
        return connection, agent_class(credential)

    return connect_agent


@pytest.fixture
def _connected(connect: ConnectAgent, delegate: User) -> tuple[Connection, HttpAgent]:
    return connect(delegate)


@pytest.fixture
def connection(_connected: tuple[Connection, HttpAgent]) -> Connection:
    return _connected[0]


@pytest.fixture
def agent(_connected: tuple[Connection, HttpAgent]) -> HttpAgent:
    """The delegate's agent, with every scope."""
    return _connected[1]


@pytest.fixture
def draft_body(customer: Customer, tax_rate: TaxRate) -> dict[str, Any]:
    """A valid draft input: 1.5 x 10.50 less 10 %, and 19 % VAT."""
    return {
        "customer_id": str(customer.id),
        "currency_code": "EUR",
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "line_items": [
            {
                "description": "Consulting",
                "quantity": "1.5",
                "unit_price": "1050",
                "unit": "h",
                "discount_type": "percent",
                "discount_value": "1000",
                "tax_rate_id": str(tax_rate.id),
            }
        ],
        "language": "en",
        "notes": "Thank you.",
        "reference": "PO 7",
    }
