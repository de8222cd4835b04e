"""Whoever can write to the database, past its triggers, still executes nothing unsigned."""

import pytest
from django.utils import timezone

from agent_access.approvals.engine import digest_nonce
from agent_access.approvals.models import ApprovalRequest
from tests.signing import (
    as_stored,
    ask,
    assert_not_executable,
    change_past_triggers,
    delete_signatures,
)

REQUESTS, SIGNATURES = "agent_approvals_approvalrequest", "agent_passkeys_signature"


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        (SIGNATURES, "facts", "{}"),
        (SIGNATURES, "fingerprint", "0" * 64),
        (SIGNATURES, "challenge", "{}"),
        (SIGNATURES, "signature", "AAAA"),
        (SIGNATURES, "client_data", "e30"),
        (SIGNATURES, "public_key", "AAAA"),
        (SIGNATURES, "demand", '{"apart":false,"by":["value"]}'),
        (SIGNATURES, "purpose", "do"),
        ("agent_passkeys_passkey", "public_key", "AAAA"),
        (REQUESTS, "nonce_digest", None),
        (REQUESTS, "demand", None),
    ],
    ids=str,
)
def test_what_was_changed_by_sql_executes_nothing(asked, soft, table, column, value):
    asked.sign(soft)
    if column == "nonce_digest":  # the attacker's own nonce
        value = digest_nonce("theirs")
        asked.told["nonce"] = "theirs"
    if column == "demand" and value is None:
        delete_signatures()
    change_past_triggers(table, column, value)
    assert_not_executable(asked)


def test_an_approval_written_by_sql_without_a_signature_executes_nothing(asked):
    """Undecided and nulled alike: what is demanded now counts."""
    now = timezone.now()
    ApprovalRequest.objects.update(decision="approved", decided_at=now, demand=None)
    assert_not_executable(asked)


def test_a_deleted_signature_executes_nothing(asked, soft):
    asked.sign(soft)
    delete_signatures()
    assert_not_executable(asked)


def test_the_signature_of_another_approval_counts_for_none(asked, soft, agent, desk, draft_body):
    other = ask(agent, desk, draft_body, key="other")
    asked.sign(soft)
    now = timezone.now()
    ApprovalRequest.objects.filter(pk=other.approval.pk).update(
        decision="approved", decided_at=now, demand=asked.approval.demand
    )
    change_past_triggers(SIGNATURES, "record_id", as_stored(other.approval.pk))
    assert_not_executable(other)
