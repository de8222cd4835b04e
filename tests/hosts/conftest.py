"""Environments with the wheel, for the projects that install it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.wheel import build_wheel, make_environment


@pytest.fixture(scope="session")
def environment_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Return a function that makes an environment with the wheel, once for each interpreter.

    It returns that environment's interpreter, which also has the packages of the other one.
    """
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))

    @cache
    def make(base: Path) -> Path:
        return make_environment(tmp_path_factory.mktemp("environment"), wheel, base=base)

    return make
