"""What the pages say of approvals to issue a draft, with every amount formatted."""

from typing import Any

from django.urls import reverse

from agent_access.approvals.kinds import Words
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.visible_text import mark_invisible
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.draft_fields import SUBJECT
from invoicing.languages import name_of_language, page_language
from invoicing.models import User
from invoicing.paper.formats import Formats
from invoicing.paper.layout import lay_out
from invoicing.services.document_facts import Facts
from invoicing.web.changes import find_changes

WORDS = Words(
    title="Issue a draft invoice",
    question="Issue this invoice?",
    button="Approve issue",
    consequences=(
        "It then gets the next number and is frozen. Issuing cannot be undone.",
        "No e-mail is sent and no payment is recorded.",
    ),
    states={ApprovalState.EXECUTED: "Issued", ApprovalState.STALE: "Draft changed"},
    headings={
        ApprovalState.APPROVED: "You approved this issue",
        ApprovalState.REJECTED: "You rejected this issue",
        ApprovalState.EXECUTED: "This invoice is issued",
        ApprovalState.STALE: "The draft has changed",
    },
    heading_of_ended="The agent can no longer issue this",
)

# What a template of these pages says about an approval, by name.
Told = dict[str, Any]


def describe_entry(snapshot: ApprovalSnapshot) -> Told:
    """Describe a line of the inbox."""
    facts = snapshot.prepared
    return {
        "document": _number(snapshot) or snapshot.target.draft_code,
        "subject": facts[SUBJECT],
        "customer": facts["customer"]["name"],
        "total": _format_total(facts),
    }


def describe_review(snapshot: ApprovalSnapshot, user: User) -> Told:
    """Describe a request with its document.

    To issue, for which the agent asks next, takes one permission more than to approve.
    """
    approval, facts, document = snapshot.approval, snapshot.prepared, snapshot.target
    return {
        "total": _format_total(facts),
        "number": document.number or "",
        "draft_code": document.draft_code,
        "lock_version": approval.target_version,
        "language": name_of_language(facts["language"]),
        "document_href": reverse("document", args=[document.pk]),
        "may_issue": user.has_perms(ISSUE_PERMISSIONS),
        "paper": lay_out(facts, number=_number(snapshot)),
        "changes": find_changes(facts, snapshot.current) if snapshot.stale_fields else [],
    }


def describe_briefly(facts: Facts) -> str:
    """Return the customer and the amount, such as "Acme GmbH, €119.00"."""
    return mark_invisible(f"{facts['customer']['name']}, {_format_total(facts)}")


def _format_total(facts: Facts) -> str:
    formats = Formats(page_language(), facts["currency_code"], facts["minor_unit"])
    return formats.money(facts["grand_total"])


def _number(snapshot: ApprovalSnapshot) -> str:
    """Return the number if this approval gave it; the draft may have got one in another way."""
    is_executed = snapshot.state == ApprovalState.EXECUTED
    return snapshot.target.number or "" if is_executed else ""
