"""Builds of the service that are wrong on purpose: the harness must find each of them out.

The product is changed in the server's own process, once Django is set up there.
"""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from agent_access import audit, execution
from agent_access.approvals import engine
from agent_access.evidence import package
from agent_access.oauth import exchange, presented, validator
from agent_access.oauth.validator import Validator
from agent_access.passkeys import signer
from agent_access.passkeys.signer import PasskeySigner
from agent_access.telling import sending, worker
from config.operations import log_lines
from invoicing import decisions
from invoicing.services import issuing
from invoicing.web import customer_imports as importing
from invoicing.web import exports, originals
from tests.breaking import wrong_pieces as pieces
from tests.breaking.builds import Build

# What is put in which place of the product.
CHANGES: dict[Build, list[tuple[Any, str, Any]]] = {
    Build.RECEIPT_OUTSIDE: [(execution, "_write", pieces.write_before_the_receipt)],
    Build.MAXIMUM_PLUS_ONE: [(issuing, "next_number", pieces.number_after_the_highest)],
    Build.APPROVAL_NOT_READ: [(engine, "_lock_and_read", pieces.review_without_reading)],
    Build.CREDIT_NOTE_SILENT: [
        (
            decisions,
            "audit",
            SimpleNamespace(
                lock_administration=audit.lock_administration, record_act=pieces.say_nothing
            ),
        )
    ],
    Build.TOKEN_TWICE: [
        (exchange, "revoke_reused", pieces.say_nothing),
        (validator, "_require_one_row", pieces.say_nothing),
        (Validator, "save_bearer_token", pieces.fork_the_chain),
    ],
    Build.REUSE_ENDS_NOTHING: [(presented, "revoke_connection", pieces.say_nothing)],
    Build.ROTATION_SILENT: [(Validator, "_record", pieces.say_nothing)],
    Build.SENT_BY_TWO: [(worker, "claim", pieces.claim_what_others_have)],
    Build.MARKED_BEFORE: [(worker, "claim", pieces.claim_and_mark)],
    Build.DETAILS_TOLD: [(worker, "compose", pieces.compose_with_details)],
    Build.ORIGINAL_ANEW: [(originals, "_read", pieces.read_anew)],
    Build.DOWNLOAD_SILENT: [(originals, "record_download", pieces.say_nothing)],
    Build.IMPORT_BY_ROW: [(importing, "import_customers", pieces.import_row_by_row)],
    Build.EXPORT_SHORT: [(exports, "read_documents", pieces.read_all_but_the_last)],
    Build.PACKAGE_TORN: [(package, "snapshot", nullcontext)],
    Build.ANSWER_TAKEN_BACK: [(execution, "transaction", SimpleNamespace(atomic=pieces.take_back))],
    Build.NUMBER_APART: [(issuing, "next_number", pieces.number_apart)],
    Build.CHAIN_BLIND: [
        (audit, "APPEND_STRICTLY", audit.APPEND_STRICTLY.replace("%(after)s::text", "''::text"))
    ],
    Build.NEVER_ANSWERED: [(execution, "_write", pieces.never_answer_some)],
    Build.CORRECTION_UNBOUNDED: [(issuing, "require_left", pieces.say_nothing)],
    Build.CREDIT_NOTE_TAKEN_BACK: [(decisions, "_issue", pieces.issue_and_take_back)],
    Build.SIGNATURE_NOT_ASKED: [(PasskeySigner, "demand", pieces.demand_nothing)],
    Build.SIGNATURE_OF_OTHER_FACTS: [(signer, "_keep", pieces.keep_other_facts)],
    Build.REFRESH_REFUSED: [(Validator, "validate_refresh_token", pieces.refuse_some)],
    Build.IMPORT_TAKEN_BACK: [(importing, "import_customers", pieces.import_and_take_back)],
    Build.PACKAGE_SHORT: [(package, "row_lines", pieces.leave_out_the_first)],
    Build.SUBSCRIPTION_KEPT: [(sending, "_judge", pieces.judge_without_leaving)],
    Build.NONCE_LOGGED: [
        (execution, "_write", pieces.log_the_nonce),
        (log_lines, "redact_secrets", str),
    ],
}


def break_product(build: Build) -> None:
    """Make the product wrong in this process; raises AttributeError where a place has moved."""
    for module, name, replacement in CHANGES[build]:
        getattr(module, name)
        setattr(module, name, replacement)
