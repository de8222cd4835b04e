"""What the pages say of approvals to issue a draft, with every amount formatted."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agent_access.approvals.kinds import Step, Words
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.templatetags.texts import isolate
from agent_access.visible_text import mark_invisible
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.document_approvals import read_updates_by_agents
from invoicing.draft_fields import SUBJECT
from invoicing.languages import name_of_language, page_language
from invoicing.models import Document, User
from invoicing.paper.formats import Formats
from invoicing.paper.layout import lay_out
from invoicing.paper.marking import is_marked, mark_changes
from invoicing.services.document_facts import Facts
from invoicing.web.changes import VERSION, find_changes

WORDS = Words(
    title=_("Issue a draft invoice"),
    question=_("Issue this invoice?"),
    button=_("Approve issue"),
    consequences=(
        _("It then gets the next number and is frozen. Issuing cannot be undone."),
        _("No e-mail is sent and no payment is recorded."),
    ),
    states={ApprovalState.EXECUTED: _("Issued"), ApprovalState.STALE: _("Draft changed")},
    headings={
        ApprovalState.APPROVED: _("You approved this issue"),
        ApprovalState.REJECTED: _("You rejected this issue"),
        ApprovalState.EXECUTED: _("This invoice is issued"),
        ApprovalState.STALE: _("The draft has changed"),
    },
    heading_of_ended=_("The agent can no longer issue this"),
    done=_("{agent} issued it"),
)

# A receipt is written a little after the draft that its call saved, in the same transaction.
SAME_MOMENT = timedelta(seconds=2)

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


def describe_since(before: Facts, facts: Facts) -> Told:
    """Describe what differs from what the person saw before: a paper that marks it, and the rest.

    `changes` are those that the paper does not show.
    """
    found = [each for each in find_changes(before, facts) if each.label != VERSION]
    paper = mark_changes(facts, before)
    return {
        "changes": [each for each in found if not each.is_on_paper],
        "paper": paper,
        "is_marked": is_marked(paper),
    }


def tell_writes(document: Document, user: User) -> Iterator[Step]:
    """Yield who wrote the draft, and how it was saved since, as far as is known.

    What agents of this person wrote is named; what is saved by hand leaves no more than its moment.
    """
    agent, person = document.connection_name, isolate(document.created_by.name)
    if agent:
        told = gettext("{agent} wrote the draft for {person}")
        yield Step(document.created_at, format_html(told, agent=isolate(agent), person=person))
    else:
        yield Step(document.created_at, format_html(gettext("{person} wrote it"), person=person))
    updates = read_updates_by_agents(user, document)
    for at, name in updates:
        told = gettext("{agent} changed the draft")
        yield Step(at, format_html(told, agent=isolate(name)))
    saved_at = document.updated_at
    if document.is_issued or document.lock_version == 1:
        return
    if all(abs(at - saved_at) > SAME_MOMENT for at, _name in updates):
        told = gettext("The draft was saved as version {version}")
        yield Step(saved_at, told.format(version=document.lock_version))


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
