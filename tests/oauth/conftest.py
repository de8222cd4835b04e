"""Browser sign-in that is on, the owner's browser, and a registered OAuth client."""

from collections.abc import Callable
from typing import Any, Never

import oauth2_provider.models
import oauth2_provider.oauth2_validators
import pytest
from django.utils import timezone

from agent_access.models import Connection
from invoicing.models import User
from tests.agents import HttpAgent
from tests.oauth.programs import Browser, Machine, Program, parameters_of
from tests.tool_table import SCOPES

Pair = dict[str, Any]


# What in the toolkit's modules stands for a project's own use of it.
PROJECTS_OWN = (
    "AccessToken",
    "Application",
    "Grant",
    "IDToken",
    "RefreshToken",
    "bcp_compliant",
    "cimd",
    "get_access_token_model",
    "get_refresh_token_model",
    "get_scopes_backend",
    "oauth2_settings",
)


class NotOurs:
    """Stands in for what browser sign-in must not touch."""

    def __getattr__(self, name: str) -> Never:
        raise AssertionError(name)


@pytest.fixture(autouse=True)
def _tables_and_settings_of_the_toolkit_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail whatever reads or writes the toolkit's tables, or asks its settings."""
    for module in (oauth2_provider.models, oauth2_provider.oauth2_validators):
        for name in PROJECTS_OWN:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, NotOurs())


@pytest.fixture(autouse=True)
def _calls_without_limit(many_calls: None) -> None:
    """Lift the rate limits, which have tests of their own."""


@pytest.fixture
def clock(time_machine: Any) -> Any:
    """Stop the clock, which a test then moves."""
    time_machine.move_to(timezone.now(), tick=False)
    return time_machine


@pytest.fixture
def machine(sign_in_on: None) -> Machine:
    return Machine()


@pytest.fixture
def browser(owner: User) -> Browser:
    return Browser(owner)


RegisterProgram = Callable[..., Program]


@pytest.fixture
def register_program(machine: Machine) -> RegisterProgram:
    def register(*addresses: str, name: str = "Ledger agent") -> Program:
        program = Program()
        uris = list(addresses) or [program.return_address]
        answer = machine.post_json("/oauth/register", {"redirect_uris": uris, "client_name": name})
        assert answer.status == 201, answer.content
        program.client_id = answer.body["client_id"]
        program.return_address = uris[0]
        return program

    return register


@pytest.fixture
def program(register_program: RegisterProgram) -> Program:
    return register_program()


@pytest.fixture
def path(program: Program) -> str:
    """The address at which the program asks the owner for access."""
    return program.authorize_path()


@pytest.fixture
def obtain_code(browser: Browser, delegate: User) -> Callable[..., str]:
    """Return a function that lets the owner allow a program; it returns the code."""

    def obtain(program: Program, *, scopes: Any = SCOPES, days: int = 30) -> str:
        path = program.authorize_path(scope=" ".join(scopes))
        return parameters_of(browser.allow(path, delegate, scopes=scopes, days=days))["code"]

    return obtain


@pytest.fixture
def code(program: Program, obtain_code: Callable[..., str]) -> str:
    return obtain_code(program)


@pytest.fixture
def pair(program: Program, code: str) -> Pair:
    """A token response: an access token and a refresh token."""
    answer = program.exchange(code)
    assert answer.status == 200, answer.content
    pair: Pair = answer.body
    return pair


@pytest.fixture
def browser_connection(pair: Pair) -> Connection:
    return Connection.objects.get()


@pytest.fixture
def signed_in_agent(pair: Pair) -> HttpAgent:
    return HttpAgent(pair["access_token"])
