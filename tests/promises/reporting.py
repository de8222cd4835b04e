"""A pytest plugin for a trial: starts from a migrated database, and writes down how tests ended."""

import json
import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# The file to write to, and the database of SQLite to start from.
REPORT = "PROMISES_REPORT"
TEMPLATE = "PROMISES_TEMPLATE"

_ended: list[dict[str, str]] = []


def pytest_configure(config: pytest.Config) -> None:
    from django.conf import settings  # noqa: PLC0415  pytest-django has set them up by now

    if template := os.environ.get(TEMPLATE):
        shutil.copyfile(template, settings.DATABASES["default"]["TEST"]["NAME"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" or report.outcome != "passed":
        raised = call.excinfo.typename if call.excinfo and report.failed else ""
        case = {"id": item.nodeid, "when": report.when, "outcome": report.outcome}
        _ended.append({**case, "raised": raised})
    return report


def pytest_sessionfinish() -> None:
    Path(os.environ[REPORT]).write_text(json.dumps(_ended), encoding="utf-8")
