"""Asserts after a test session that no credential made in it was logged."""

import logging
import re
from collections.abc import Iterator

import pytest
from typing_extensions import override

from agent_access import connections
from agent_access.credentials import PREFIX, make_credential

# As long as the random part of a credential: other lines cannot hold one.
SUSPICIOUS = re.compile(r"[A-Za-z0-9_-]{43}")


class LogWatch(logging.Handler):
    """Remembers the credentials that were made, and the log lines that could hold one."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("{name} {message}", style="{"))
        self.secrets: list[str] = []
        self.lines: list[str] = []

    def make_credential(self) -> str:
        credential = make_credential()
        self.secrets.append(credential.removeprefix(PREFIX))
        return credential

    @override
    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if SUSPICIOUS.search(line):
            self.lines.append(line)

    def find_leaks(self) -> list[str]:
        return [line for line in self.lines if any(secret in line for secret in self.secrets)]


@pytest.fixture(autouse=True, scope="session")
def log_watch() -> Iterator[LogWatch]:
    """Watch every logger from the first test on, and search for credentials after the last."""
    watch = LogWatch()
    logging.getLogger().addHandler(watch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "make_credential", watch.make_credential)
        yield watch
    logging.getLogger().removeHandler(watch)
    assert watch.find_leaks() == []
