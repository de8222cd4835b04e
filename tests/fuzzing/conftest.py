"""Lifts the rate limits for the fuzzers, and reports how much they sent."""

import json
import os
from pathlib import Path

import pytest

from tests.fuzzing.effort import tally


@pytest.fixture(autouse=True)
def _calls_without_limit(many_calls: None) -> None:
    """No test of this folder is about the limits."""


def pytest_sessionfinish() -> None:
    """Tell `./dev fuzz` how much was sent."""
    if path := os.environ.get("FUZZ_TALLY"):
        Path(path).write_text(json.dumps(tally), encoding="utf-8")
