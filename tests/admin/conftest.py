"""The cast at the door of the administration."""

from collections.abc import Callable

import pytest
from django.test import Client

from invoicing.access import Permission
from invoicing.models import User
from tests.factories import UserFactory
from tests.web.conftest import Browser, SignIn

Person = Callable[[], User | None]


@pytest.fixture
def browser() -> Client:
    """Somebody who has not signed in."""
    return Browser()


@pytest.fixture
def sign_in() -> SignIn:
    """Sign a person in without the form."""

    def sign_in_as(user: User) -> Client:
        browser = Browser()
        browser.force_login(user)
        return browser

    return sign_in_as


@pytest.fixture
def superuser(company: object) -> User:
    return UserFactory.create(name="Sue Super", is_staff=True, is_superuser=True)


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
