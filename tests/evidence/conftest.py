"""Packages of evidence of a service with invoices of every way, each made as the service does."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agent_access.approvals import engine
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import SYSTEM
from agent_access.evidence.verify_evidence import verify
from invoicing.decisions import issue_by_hand
from invoicing.models import Document
from invoicing.services.issuing import issue_document
from tests.approvals import fingerprint_draft
from tests.factories import make_draft


@pytest.fixture
def issue(agent, draft_body):
    """Return what lets the agent issue a draft that the person approved; it returns the number."""

    def issue(**changes: Any) -> str:
        name = f"{Document.objects.count()}"
        draft = agent.call("drafts.create", draft_body | changes, key=f"draft-{name}").data
        version = {"lock_version": 1}
        prepared = agent.call(
            "documents.issue_prepare", version, id=draft["id"], key=f"prepare-{name}"
        ).data
        decide(prepared["approval_id"])
        answer = agent.call(
            "documents.issue",
            {"nonce": prepared["nonce"]},
            id=prepared["approval_id"],
            key=f"issue-{name}",
        )
        assert answer.status == 200
        return answer.data["number"]

    return issue


def decide(pk: str, decision: Decision = Decision.APPROVED) -> None:
    approval = ApprovalRequest.objects.get(pk=pk)
    engine.decide(
        approval.delegated_user,
        approval.pk,
        decision=decision,
        fingerprint=approval.fingerprint,
        reason="",
        origin=SYSTEM,
    )


@pytest.fixture
def issue_one_by_hand(delegate, customer):
    def issue_one_by_hand() -> Document:
        draft = make_draft(user=delegate, customer=customer)
        shown = fingerprint_draft(draft)
        return issue_by_hand(delegate, draft.pk, fingerprint=shown, origin=SYSTEM)

    return issue_one_by_hand


@pytest.fixture
def books(delegate, customer, issue, issue_one_by_hand):
    """A number from before digests were kept, two by approval, one by hand, and two refusals."""
    issue_document(make_draft(user=delegate, customer=customer), clock=timezone.now)
    issue()
    issue(notes="Für Zoë “€” \u2028\U0001f980")
    issue_one_by_hand()


@pytest.fixture
def export(tmp_path):
    """Return what writes a package of now, and returns its path."""

    def export(name: str = "evidence.zip") -> Path:
        call_command("export_evidence", str(tmp_path / name), stdout=StringIO())
        return tmp_path / name

    return export


@pytest.fixture
def check():
    """Return what verifies a package; it returns the report's problems and the exit code."""

    def check(file: Path, **outside: Any) -> tuple[list[str], int]:
        report, code = verify(str(file), outside.get("earlier"), outside.get("heads"))
        print(report)
        lines = report.splitlines()
        return [line.removeprefix("PROBLEM  ") for line in lines if "PROBLEM  " in line], code

    return check
