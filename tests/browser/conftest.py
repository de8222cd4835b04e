"""A real browser, Chromium, against the application over HTTPS."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.test import override_settings
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from config import settings as installed
from invoicing.models import User
from tests.agents import HOST
from tests.browser.server import Served, serve_https
from tests.factories import give_password

WHOLE = ("chromium", "chromium-browser", "google-chrome")
# Without a window around each page, which takes half of the time; it shows no notifications.
PROGRAMS = ("chromium-headless-shell", "chrome-headless-shell", *WHOLE)
ORIGIN = f"https://{HOST}"

OpenPage = Callable[..., Page]


def find_program(names: Sequence[str] = PROGRAMS) -> str | None:
    """Return the browser: BROWSER_BIN, or the first of the usual names on the path."""
    named = os.environ.get("BROWSER_BIN", "")
    return next(filter(None, (named, *map(shutil.which, names))), None)


def require_program(names: Sequence[str]) -> str:
    found = find_program(names)
    if found is None and os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail("REQUIRE_BROWSER=1, but no browser was found to test with.")
    if found is None:
        pytest.skip("No browser was found (BROWSER_BIN, chromium, google-chrome).")
    return found


@pytest.fixture(scope="package")
def served() -> Iterator[Served]:
    """Serve static files as an installation does: a browser loads each of them once."""
    collected = {"STORAGES": installed.STORAGES, "WHITENOISE_AUTOREFRESH": False}
    with (
        override_settings(**collected, WHITENOISE_USE_FINDERS=False),
        serve_https(HOST) as served,
    ):
        yield served


@pytest.fixture(scope="package")
def launch(served: Served) -> Iterator[Callable[[str], Browser]]:
    """Return a function that starts a browser once, and returns it from then on.

    It is for this folder only, since Playwright runs an event loop in this thread.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        with sync_playwright() as playwright:
            options = [
                # The host of BASE_URL resolves to the server of this test run.
                f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{served.port}",
                # Its key is trusted: a browser that only overlooks it keeps no file of any page.
                f"--ignore-certificate-errors-spki-list={served.fingerprint}",
            ]

            @cache
            def launch(program: str) -> Browser:
                return playwright.chromium.launch(executable_path=program, args=options)

            yield launch


@pytest.fixture
def chromium(launch: Callable[[str], Browser], request: pytest.FixtureRequest) -> Browser:
    """Return a browser, the whole of it where the test is marked `whole_browser`."""
    needs_all = request.node.get_closest_marker("whole_browser") is not None
    return launch(require_program(WHOLE if needs_all else PROGRAMS))


@pytest.fixture
def open_page(transactional_db: None, chromium: Browser) -> Iterator[OpenPage]:
    """Return a function that opens a page, signed in as a user or not.

    A violation of the Content Security Policy, and an error in a script, fail the test.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_page(path: str, user: User | None = None, **options: Any) -> Page:
        context = chromium.new_context(base_url=ORIGIN, **options)
        contexts.append(context)
        if user is not None:
            if not user.has_usable_password():
                give_password(user)
            context.add_cookies(
                [
                    {
                        "name": settings.SESSION_COOKIE_NAME,
                        "value": _session_of(user),
                        "url": ORIGIN,
                        "secure": True,
                    }
                ]
            )
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if "Policy" in message.text else None,
        )
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def _session_of(user: User) -> str:
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore()
    login(request, user)
    request.session.save()
    return str(request.session.session_key)
