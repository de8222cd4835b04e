"""Who visits the administration, and what they find there."""

from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from agent_access.models import AccessSettings, Connection
from invoicing.access import Permission
from invoicing.models import Company, User
from tests.browsers import SignIn
from tests.factories import UserFactory
from tests.oauth.programs import RETURN_ADDRESS, Program, make_program, parameters_of
from tests.oauth.programs import Browser as OwnersBrowser


@pytest.fixture
def administrator(company: object) -> User:
    """Somebody of the staff with every permission of the application."""
    return UserFactory.create(name="Ada Admin", is_staff=True, permissions=tuple(Permission))


@pytest.fixture
def guest(company: object) -> User:
    return UserFactory.create(name="Gwen Guest", is_guest=True, is_staff=True, is_superuser=True)


@pytest.fixture
def owner_desk(sign_in: SignIn, owner: User) -> Client:
    """The owner's browser, signed in."""
    return sign_in(owner)


@pytest.fixture
def desk(sign_in: SignIn, superuser: User) -> Client:
    """The browser of a superuser, signed in; tests of other administrators have another."""
    return sign_in(superuser)


@pytest.fixture
def handed_over_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transfer the ownership just before anybody locks the settings, as during a wait for them."""
    lock = AccessSettings.lock

    def hand_over_first() -> AccessSettings:
        Company.objects.update(owner=UserFactory.create())
        return lock()

    monkeypatch.setattr(AccessSettings, "lock", hand_over_first)


@pytest.fixture
def signed_out_first(monkeypatch: pytest.MonkeyPatch, owner: User) -> None:
    """End the owner's sessions just before anybody locks the settings."""
    lock = AccessSettings.lock

    def end_sessions_first() -> AccessSettings:
        User.objects.filter(pk=owner.pk).update(session_revision=F("session_revision") + 1)
        return lock()

    monkeypatch.setattr(AccessSettings, "lock", end_sessions_first)


@pytest.fixture
def client_program(sign_in_on: None) -> Program:
    """A program registered as an OAuth client."""
    return make_program(RETURN_ADDRESS, name="Browser agent")


@pytest.fixture
def pair(client_program: Program, owner: User, delegate: User) -> dict[str, Any]:
    """The token response of a connection that the owner allowed in the browser."""
    answer = OwnersBrowser(owner).allow(client_program.authorize_path(), delegate)
    pair: dict[str, Any] = client_program.exchange(parameters_of(answer)["code"]).body
    return pair


@pytest.fixture
def browser_connection(pair: dict[str, Any]) -> Connection:
    return Connection.objects.get(kind="browser")
