"""People at their browsers, played by Django's test client."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from typing_extensions import override

from invoicing.models import User
from tests.agents import HOST
from tests.factories import PASSWORD, give_password

SignIn = Callable[[User], Client]


class Browser(Client):
    """A test client that speaks HTTPS to the host of BASE_URL."""

    def __init__(self, **options: Any) -> None:
        super().__init__(headers={"host": HOST}, **options)

    @override
    def post(self, path: Any, data: Any = None, *args: Any, **options: Any) -> Any:
        """Send a form, confirmed with PASSWORD where it says nothing; None sends no password."""
        if path.startswith(("/admin/", "/oauth/")) and (data is None or isinstance(data, dict)):
            data = dict(data or {})
            typed = data.pop("own_password", "")
            data |= {} if typed is None else {"own_password": typed or PASSWORD}
        return super().post(path, data, *args, **options)

    @override
    def request(self, **request: Any) -> Any:
        return super().request(**request | {"wsgi.url_scheme": "https"})


def sign_in_with(browser: Client, username: str, password: str = PASSWORD, **fields: str) -> Any:
    """Send the form of the sign-in page, and return its answer."""
    return browser.post("/sign-in", {"username": username, "password": password, **fields})


@pytest.fixture
def browser() -> Client:
    """A browser in which nobody has signed in."""
    return Browser()


@pytest.fixture
def sign_in() -> SignIn:
    """Sign a person in without the form, which has tests of its own."""

    def sign_in_as(user: User) -> Client:
        browser = Browser()
        if not user.has_usable_password():
            give_password(user)
        browser.force_login(user)
        return browser

    return sign_in_as


@pytest.fixture
def person(delegate: User) -> User:
    """Somebody with every permission, who has a password."""
    give_password(delegate)
    return delegate
