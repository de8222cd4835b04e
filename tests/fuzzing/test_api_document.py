"""The HTTP tools do what the OpenAPI document says, whatever is sent: schemathesis asks."""

import json
from pathlib import Path
from typing import Any

import pytest

from invoicing.access import Permission
from tests.factories import CustomerFactory, TeamFactory, UserFactory, make_draft
from tests.fuzzing.effort import EFFORT, IS_LONG, SEED

# One database shows it: nothing here depends on which, and the bytes are sent to both.
pytestmark = [pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]

# The walk over every border of a draft's schema takes half a minute: it is left to the long run.
WITHOUT_BORDERS = {
    "operations": [
        {"include-path": path, "phases": {"coverage": {"enabled": False}}}
        for path in ("/api/v1/documents/preview", "/api/v1/drafts", "/api/v1/drafts/{id}")
    ]
}


def fuzz_document(**run: Any) -> list[str]:
    """Import schemathesis only where it runs: that takes a second, in every worker."""
    from tests.fuzzing.document_run import fuzz_document as fuzz  # noqa: PLC0415  as said

    return fuzz(seed=SEED, **run)


@pytest.fixture
def managers(connect, tax_rate, tmp_path: Path) -> Path:
    """Return the sign-ins of two account managers, neither of whom may see what the other has."""
    permissions = [each for each in Permission if each != Permission.VIEW_ALL_CUSTOMERS]
    entries = []
    for name in ("anna", "bert"):
        user = UserFactory.create(name=name, permissions=permissions)
        customer = CustomerFactory.create(name=f"Customer of {name}", account_managers=[user])
        make_draft(user=user, customer=customer)
        TeamFactory.create(members=[user])
        _, agent = connect(user)
        header = {"name": "Authorization", "value": f"Bearer {agent.credential}"}
        entries.append({"name": name, "fixedHeaders": [header]})
    path = tmp_path / "sign_ins.json"
    path.write_text(json.dumps({"auth": entries}), encoding="utf-8")
    return path


@pytest.mark.requirement("error.validation_failed")
def test_no_call_of_somebody_signed_in_gets_what_the_document_does_not_say(managers):
    auth = {"wfc": {"path": str(managers), "peers": ["anna", "bert"]}}
    borders = {} if IS_LONG else WITHOUT_BORDERS
    assert fuzz_document(examples=4 * EFFORT, auth=auth, **borders) == []


def test_no_call_without_a_credential_gets_anything_but_a_refusal(access_on):
    phases = {"coverage": {"enabled": IS_LONG}}
    assert fuzz_document(examples=2 * EFFORT, phases=phases) == []
