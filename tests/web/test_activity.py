"""What agents did, told to the owner of all of them and to a person of their own."""

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.web.test_home import approve, text_of, worked  # noqa: F401  a fixture

pytestmark = pytest.mark.usefixtures("clock")


def part(answer: Any, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', answer.content.decode(), re.DOTALL)
    return text_of(found[0]) if found else ""


def test_it(desk, worked):
    approve(desk)
    answer = desk.get("/agents/activity")
    print(part(answer, "figures"))
    print(part(answer, "acts"))
    print(part(answer, "refused"))
    assert 0
