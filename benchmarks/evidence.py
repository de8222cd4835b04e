"""Measures what a package of evidence takes to be written and to be verified.

    python -m benchmarks.evidence --records 1000

prints the table that benchmarks/README.md keeps. It fills a PostgreSQL of its own: each record is
an issued document of ten lines with a signed approval, and ten events of the audit tell of it. The
verifier runs as an auditor runs it, in a process of its own.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from time import process_time
from typing import Any
from uuid import UUID

from benchmarks.machine import describe_machine
from benchmarks.scratch import sample_company

BATCH = 500
# Of each record, besides its approval and execution.
CALLS = 8
DEMAND = '{"always":true}'
MIB = 2**20
# Runs the verifier, and then tells what its process took.
RUN = """
import re, runpy, sys, time
del sys.argv[0]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    peak = re.search(r"VmHWM:\\s*([0-9]+) kB", open("/proc/self/status").read())
    sys.stderr.write(f"{time.process_time()} {peak[1]}")
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.evidence", allow_abbrev=False)
    parser.add_argument("--records", type=int, default=1_000)
    records = parser.parse_args().records
    sys.stdout.write(", ".join(describe_machine().values()) + "\n\n")
    with sample_company(), tempfile.TemporaryDirectory() as folder:
        fill(records)
        file = Path(folder) / "evidence.zip"
        written = write(file)
        sys.stdout.write(
            "| Records | MiB | processor's seconds to write | to verify | MiB of memory |\n"
        )
        sys.stdout.write("|---|---|---|---|---|\n")
        verified, memory = verify(file)
        size = file.stat().st_size / MIB
        row = f"| {records} | {size:.1f} | {written:.1f} | {verified:.1f} | {memory / MIB:.0f} |\n"
        sys.stdout.write(row)
    return 0


def write(file: Path) -> float:
    """Write a package, and return the seconds of the processor that this process took."""
    from django.core.management import call_command  # noqa: PLC0415  after django.setup()

    begun = process_time()
    call_command("export_evidence", str(file), stdout=sys.stderr)
    return process_time() - begun


def verify(file: Path) -> tuple[float, int]:
    """Return the processor's seconds and the largest resident set, in bytes, of the verifier."""
    from agent_access.evidence.package import VERIFIER  # noqa: PLC0415  as above

    command = [sys.executable, "-I", "-c", RUN, str(VERIFIER), str(file)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  our own program
    sys.stderr.write(ran.stdout)
    if ran.returncode:
        raise SystemExit("The package does not verify.")
    seconds, kibibytes = ran.stderr.split()
    return float(seconds), int(kibibytes) * 1024


def fill(count: int) -> None:
    """Write so many records with all that tells of them."""
    from django.core.management import call_command  # noqa: PLC0415  as above

    from agent_access.connections import live_connections  # noqa: PLC0415  as above
    from benchmarks.bulk_documents import NewDocument, write_documents  # noqa: PLC0415  as above
    from invoicing.models import Customer, Document, User  # noqa: PLC0415  as above
    from tests.evidence.authenticator import make_es256  # noqa: PLC0415  as above
    from tests.evidence.books import add_passkey  # noqa: PLC0415  as above
    from tests.factories import ISSUED_AT, draft_input, line_input  # noqa: PLC0415  as above

    call_command("agent_access", "on", stdout=sys.stderr)
    dana = User.objects.get(email="dana@halden.example")
    told = {"user": dana.email, "scopes": "invoices:execute", "days": 30}
    call_command("connect_agent", **told, stdout=sys.stderr)
    connection, key = live_connections()[0], make_es256()
    passkey = add_passkey(dana, key)
    draft = draft_input(Customer.objects.filter(is_active=True)[0], *[line_input()] * 10)
    new = NewDocument(author=dana, draft=draft, issued_at=ISSUED_AT)
    known = set(Document.objects.values_list("pk", flat=True))
    for _ in range(0, count, BATCH):
        write_documents([new] * min(BATCH, count))
        made = Document.objects.filter(status="issued").exclude(pk__in=known)
        known |= _approve(made, connection.pk, dana, key, passkey)


def _approve(
    documents: Iterable[Any], connection_id: UUID, person: Any, key: Any, passkey: Any
) -> set[UUID]:
    """Write of each document a signed approval, and the events; return the documents' IDs."""
    from django.db import transaction  # noqa: PLC0415  as above
    from django.utils import timezone  # noqa: PLC0415  as above

    from agent_access.approvals.models import ApprovalRequest  # noqa: PLC0415  as above
    from agent_access.approvals.signatures import digest_decision  # noqa: PLC0415  as above
    from agent_access.audit import SYSTEM, Fact, record_decisions  # noqa: PLC0415  as above
    from agent_access.passkeys.models import Signature  # noqa: PLC0415  as above
    from invoicing.services.document_facts import read_parts  # noqa: PLC0415  as above
    from invoicing.services.issued_content import digest_content  # noqa: PLC0415  as above

    found, approvals, signatures, events = list(documents), [], [], []
    read_parts(found)
    origin: dict[str, Any] = {
        "origin": SYSTEM,
        "actor_id": person.pk,
        "connection_id": connection_id,
    }
    for document in found:
        moment = timezone.now()
        asked = ApprovalRequest(
            kind="documents.issue",
            happens_once=True,
            target=document.pk,
            target_version=1,
            delegated_user=person,
            connection_id=connection_id,
            **_facts_of(document),
            nonce_digest="0" * 64,
            prepared_at=moment,
            expires_at=moment + timedelta(minutes=10),
            decision="approved",
            decided_at=moment,
            demand=DEMAND,
            executed_at=moment,
            execute_key="key",
            result="{}",
        )
        approvals.append(asked)
        signatures.append(Signature(passkey=passkey, **_sign(asked, person, key)))
        about: dict[str, Any] = {"target": str(asked.pk), "detail": str(document.pk)}
        approved, issued = digest_decision(asked), digest_content(document)
        events += [Fact(action="documents.get", target=str(document.pk), **origin)] * CALLS
        events += [
            Fact(action="approval:approved", content_digest=approved, **about, **origin),
            Fact(action="documents.issue", content_digest=issued, **about, **origin),
        ]
    with transaction.atomic():
        ApprovalRequest.objects.bulk_create(approvals)
        Signature.objects.bulk_create(signatures)
        record_decisions(events)
    return {document.pk for document in found}


def _facts_of(document: Any) -> dict[str, str]:
    """Return the columns of an approval about a document as it was frozen."""
    from agent_access.facts import canonical_json, fingerprint_of  # noqa: PLC0415  as above
    from invoicing.services.issued_content import read_content  # noqa: PLC0415  as above

    facts = canonical_json({**read_content(document)["facts"], "status": "draft"})
    return {"facts": facts, "fingerprint": fingerprint_of(facts)}


def _sign(asked: Any, person: Any, key: Any) -> dict[str, Any]:
    """Return the columns of a signature of the approval."""
    from agent_access import conf  # noqa: PLC0415  as above
    from agent_access.facts import canonical_json  # noqa: PLC0415  as above
    from agent_access.passkeys.sites import relying_party  # noqa: PLC0415  as above

    told = {"purpose": "approve", "user": str(person.pk), "fingerprint": asked.fingerprint}
    named = {"approval": str(asked.pk), "decision": "approved", "nonce_digest": asked.nonce_digest}
    challenge = canonical_json(told | named | {"random": "00" * 32})
    columns = {"challenge": challenge, "origin": conf.base_url(), "relying_party": relying_party()}
    return {
        **columns,
        **key.sign(challenge, origin=conf.base_url(), rp_id=relying_party()),
        "purpose": "approve",
        "record_id": asked.pk,
        "person": person,
        "facts": asked.facts,
        "fingerprint": asked.fingerprint,
        "demand": asked.demand,
        "signed_at": asked.decided_at,
    }


if __name__ == "__main__":
    sys.exit(main())
