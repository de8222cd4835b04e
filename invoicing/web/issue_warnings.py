"""The warnings before something is issued, as pages show them."""

from dataclasses import replace
from datetime import datetime

from django.template.loader import render_to_string

from invoicing.decisions import approvals_of_ended_connections
from invoicing.models import Document, User
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import find_warnings
from invoicing.web.formats import format_day, format_instant, local_date


def render_warnings(user: User, draft: Document, facts: Facts, *, now: datetime) -> str:
    """Return the warnings about issuing a draft with these facts now; most drafts have none."""
    found = find_warnings(user, draft, facts, now=now, today=local_date(now, user))
    given_up = approvals_of_ended_connections(found.alike, user)
    alike = [each for each in found.alike if each.approval.pk not in given_up]
    warnings = replace(found, alike=alike[:1])
    if not any(vars(warnings).values()):
        return ""
    last, same_total = warnings.last_issue_date, warnings.same_total
    values = {
        "warnings": warnings,
        "issued_at": format_instant(same_total.issued_at, user) if same_total else "",
        "issue_date": format_day(draft.issue_date),
        "issue_year": f"{draft.issue_date.year:04d}",
        "last_issue_date": format_day(last) if last else "",
        "due_date": format_day(draft.due_date),
    }
    return render_to_string("invoicing/warnings.html", values)
