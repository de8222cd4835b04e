"""What each release promised still holds once its database was migrated to this one."""

import base64
import hashlib
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from agent_access.approvals.models import ApprovalRequest
from agent_access.database import triggers
from agent_access.database.constraints import find_lost_constraints
from agent_access.database.schema import lacks_migrations
from agent_access.evidence.verify_evidence import verify
from agent_access.models import AuditEvent
from invoicing.models import Original
from tests.agents import Answer
from tests.approvals import digest_issued
from tests.interface.issuing import execute, read
from tests.oauth.programs import Browser, Program
from tests.releases.company import decide
from tests.releases.rows import read_tables
from tests.signing import demand

pytestmark = pytest.mark.django_db

# Whose rows nobody may change or delete, and whose rows no upgrade changes either.
FROZEN_TABLES = ("agent_access_auditevent", "agent_passkeys_signature", "invoices_original")
KEPT_TABLES = (
    *FROZEN_TABLES,
    "agent_access_receipt",
    "agent_telling_delivery",
    "agent_telling_notification",
    "invoices_customerimport",
)
PARTS = ("invoices_line", "invoices_taxrow")
REFUSAL = "(cannot be|are never) (changed|deleted)"


def refuse(statement: str) -> None:
    """Run a statement that a trigger has to refuse."""
    refused = pytest.raises(DatabaseError, match=REFUSAL)
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_database_is_as_if_it_had_been_made_by_this_version(upgraded):
    assert (lacks_migrations(), find_lost_constraints(connection)) == (False, [])
    for folder in triggers.installed_folders:
        assert triggers.find_differences(connection, folder) == []


def test_no_row_that_is_kept_for_good_was_changed(upgraded):
    """Each column that there was has its value, of issued documents with their lines and taxes."""
    after = read_tables()
    issued = {
        pk for pk, row in upgraded.before["invoices_document"].items() if row["status"] == "issued"
    }
    assert len(issued) > 10
    kept = {"invoices_document": issued}
    kept |= {
        table: {pk for pk, row in upgraded.before[table].items() if row["document_id"] in issued}
        for table in PARTS
    }
    kept |= {table: set(upgraded.before.get(table, {})) for table in KEPT_TABLES}
    for table, pks in kept.items():
        before = {pk: upgraded.before[table][pk] for pk in pks}
        assert before == {pk: shared(row, after[table][pk]) for pk, row in before.items()}, table


def shared(row, now):
    return {name: now.get(name) for name in row}


def test_what_was_issued_has_the_digest_that_the_audit_kept(upgraded):
    """Where the release kept one; a document of before says nothing that could be compared."""
    kept = AuditEvent.objects.filter(action__in=("document:issued", "documents.issue"))
    kept = kept.filter(content_digest__isnull=False)
    # The event of an agent's call is about the approval.
    approved = {str(each.pk): each.target for each in ApprovalRequest.objects.all()}
    digests = {
        approved.get(target, target): digest
        for target, digest in kept.values_list("target", "content_digest")
    }
    assert digests == {pk: digest_issued(pk) for pk in digests}
    assert bool(digests) == (upgraded.release.evidence is not None)


def test_an_agent_reads_what_it_read_before(upgraded):
    """An answer may say more than before, and nothing else of what it said."""
    agent = upgraded.agent("pasted")
    for pk, told in upgraded.promises["documents"].items():
        answer = agent.call("documents.get", id=pk)
        assert (answer.status, less_than(answer.data, told)) == (200, told)


def less_than(now, before):
    """Return what is told now, without what was not told before."""
    if isinstance(before, dict):
        return {name: less_than(now.get(name), value) for name, value in before.items()}
    if isinstance(before, list) and len(before) == len(now):
        return [less_than(*pair) for pair in zip(now, before, strict=True)]
    return now


def test_a_repeated_write_gets_the_first_answer_byte_for_byte(upgraded):
    for call in upgraded.promises["calls"]:
        if call["agent"] != "ended":
            answer = repeat(upgraded, call)
            assert answer.headers["Idempotent-Replayed"] == "true", call
            assert answer.status == call["status"]
            assert answer.content == base64.b64decode(call["content"])


def repeat(upgraded, call) -> Answer:
    agent = upgraded.agent(call["agent"])
    answer: Answer = agent.call(call["tool"], call["arguments"], id=call["id"], key=call["key"])
    return answer


def test_what_has_ended_stays_ended(upgraded):
    [call] = [call for call in upgraded.promises["calls"] if call["agent"] == "ended"]
    assert repeat(upgraded, call).status == 401


def test_a_program_that_was_signed_in_rotates_its_tokens(upgraded):
    tokens = upgraded.promises["tokens"]
    answer = Program(client_id=tokens["client_id"]).refresh(tokens["refresh_token"])
    assert answer.status == 200, answer.content
    again = Program(client_id=tokens["client_id"]).refresh(tokens["refresh_token"])
    assert again.body["error"] == "invalid_grant"


def test_what_waited_is_decided_and_executed(upgraded):
    agent, told = upgraded.agent("pasted"), upgraded.promises["approvals"]
    states = {"pending", "approved", "rejected", "executed"}
    assert {name: read(agent, told[name])["status"] for name in states} == {n: n for n in states}
    decide(Browser(upgraded.person), told["pending"])
    for name in ("pending", "approved"):
        answer = execute(agent, told[name], key=f"execute-{name}")
        assert (answer.status, answer.data["document"]["status"]) == (200, "issued")


def test_what_was_rejected_or_executed_stays_so(upgraded):
    agent, told = upgraded.agent("pasted"), upgraded.promises["approvals"]
    assert execute(agent, told["rejected"], key="another").code == "approval_rejected"
    assert execute(agent, told["executed"], key="another").code == "approval_used"


def test_what_was_signed_is_executed_where_that_is_demanded(upgraded):
    told = upgraded.promises["approvals"].get("signed")
    demand(always=True)
    agent = upgraded.agent("pasted")
    if told is None:
        unsigned = upgraded.promises["approvals"]["approved"]
        assert execute(agent, unsigned, key="unsigned").code == "approval_pending"
        return
    assert execute(agent, told, key="signed").status == 200


def test_originals_are_the_same_bytes(upgraded):
    kept = {
        f"{row.document_id} {row.kind}": hashlib.sha256(row.content).hexdigest()
        for row in Original.objects.all()
    }
    assert kept == upgraded.promises["originals"]


def test_triggers_refuse_to_change_what_is_frozen(upgraded):
    refuse("UPDATE invoices_document SET notes = 'x' WHERE status = 'issued'")
    refuse("DELETE FROM invoices_document WHERE status = 'issued'")
    refuse("DELETE FROM agent_approvals_approvalrequest")
    for table in upgraded.before.keys() & FROZEN_TABLES:
        if upgraded.before[table]:
            refuse(f"DELETE FROM {table}")  # noqa: S608  constants only


def test_the_audit_agrees_with_the_heads_that_were_kept(upgraded, tmp_path):
    heads = tmp_path / "heads.txt"
    heads.write_text(upgraded.promises["heads"])
    printed = StringIO()
    call_command("verify_audit", expect=heads, stdout=printed)
    assert printed.getvalue().splitlines() == upgraded.promises["heads"].splitlines()


def test_evidence_verifies_and_agrees_with_what_was_kept(upgraded, tmp_path):
    heads, package = tmp_path / "heads.txt", tmp_path / "evidence.zip"
    heads.write_text(upgraded.promises["heads"])
    call_command("export_evidence", str(package), stdout=StringIO())
    earlier = upgraded.release.evidence
    report, code = verify(str(package), earlier and str(earlier), str(heads))
    assert code == 0, report


def test_numbers_go_on_where_they_stood(upgraded):
    agent, told = upgraded.agent("pasted"), upgraded.promises["approvals"]["approved"]
    number = execute(agent, told, key="next").data["document"]["number"]
    numbers = [row["number"] for row in upgraded.before["invoices_document"].values()]
    start, last = number.rsplit("-", 1)
    series = [int(each.rsplit("-", 1)[1]) for each in numbers if each and each.startswith(start)]
    assert int(last) == max(series) + 1
