"""Packages of evidence of a service with invoices of every way, each made as the service does."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agent_access.evidence.verify_evidence import verify
from invoicing.services.issuing import issue_document
from tests.evidence.books import Books
from tests.factories import make_draft


@pytest.fixture
def books(agent, delegate, customer, draft_body, time_machine):
    """Six numbers: one from before digests were kept, two by approval, and three by hand.

    The first by hand is where digests begin, and the last of each way is signed.
    """
    issue_document(make_draft(user=delegate, customer=customer), clock=timezone.now)
    books = Books(agent, delegate, customer, draft_body)
    books.issue_alone()
    # The upgrade is over.
    time_machine.move_to(timezone.now() + timedelta(hours=2))
    books.issue_by_agent(notes="Für Zoë “€” \u2028\U0001f980")
    books.issue_by_agent(is_signed=True)
    books.issue_alone()
    books.issue_alone(is_signed=True)
    return books


@pytest.fixture
def export(tmp_path, capsys):
    """Return what writes a package of now, and returns its path."""

    def export(name: str = "evidence.zip") -> Path:
        file: Path = tmp_path / name
        call_command("export_evidence", str(file))
        capsys.readouterr()
        return file

    return export


@pytest.fixture
def report_of():
    """Return what verifies a package: its report and exit code."""
    return lambda file: verify(str(file), None, None)


@pytest.fixture
def check():
    """Return what verifies a package, and returns the problems that the report tells."""

    def check(file: Path, **outside: Any) -> list[str]:
        kept = {name: str(path) for name, path in outside.items()}
        report, code = verify(str(file), kept.get("earlier"), kept.get("heads"))
        lines = report.splitlines()
        problems = [line.removeprefix("PROBLEM  ") for line in lines if "PROBLEM  " in line]
        assert code == (1 if problems else 0), report
        return problems

    return check
