"""Somebody with a browser at a push service of the tests, and a worker that is run by hand."""

import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme

from agent_access import outgoing
from agent_access.telling.devices import add_device
from agent_access.telling.worker import Worker
from agent_access.waiting import subjects
from invoicing.models import User
from tests.telling.push_service import (
    WEB_PUSH_KEY,
    PushBrowser,
    PushService,
    Subscribe,
    run_push_service,
)
from tests.telling.questions import Riddles

Deliver = Callable[..., None]
# As long as any test waits for what comes at once.
PATIENCE_SECONDS = 10


@pytest.fixture(scope="session")
def push_authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def push_on(settings: Any, monkeypatch: Any, push_authority: trustme.CA) -> None:
    """Let people be told in browsers, by push services on this machine."""
    settings.AGENT_ACCESS |= {"WEB_PUSH_KEY": WEB_PUSH_KEY, "REACHES_LOOPBACK": True}

    def make_context() -> ssl.SSLContext:
        context = ssl.create_default_context()
        push_authority.configure_trust(context)
        return context

    monkeypatch.setattr(outgoing, "make_tls_context", make_context)
    monkeypatch.setattr(outgoing, "resolve", lambda *_: ["127.0.0.1"])


@pytest.fixture
def push_service(push_authority: trustme.CA, push_on: None) -> Iterator[PushService]:
    with run_push_service(push_authority) as service:
        yield service


@pytest.fixture
def subscribe(push_service: PushService) -> Subscribe:
    """Return a function that adds another browser of a person."""
    paths = iter(range(1, 100))

    def add(person: User, *, service: PushService = push_service, name: str = "Firefox") -> Any:
        browser = PushBrowser(service, f"/send/{next(paths)}")
        add_device(person, browser.subscription, name=name)
        return browser

    return add


@pytest.fixture
def browser(subscribe: Subscribe, delegate: User) -> PushBrowser:
    """A browser of the delegated person."""
    return subscribe(delegate)


@pytest.fixture
def deliver() -> Deliver:
    """Return a function that works as the worker does, until nothing is being sent."""

    def work_off(worker: Worker | None = None) -> None:
        working = worker or Worker()
        working.work()
        while working._sendings:
            working._collect(PATIENCE_SECONDS)
            working.work()

    return work_off


@pytest.fixture
def riddles(monkeypatch: Any) -> Riddles:
    """The subject "riddle", which only tests have."""
    subject = Riddles()
    monkeypatch.setitem(subjects, "riddle", subject)
    return subject
