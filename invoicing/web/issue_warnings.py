"""The warnings before something is issued, as pages show them."""

from datetime import datetime

from django.template.loader import render_to_string

from invoicing.document_approvals import find_alike
from invoicing.models import Document, User
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import find_warnings
from invoicing.web.formats import format_day, format_instant, local_date


def render_warnings(user: User, draft: Document, facts: Facts, *, now: datetime) -> str:
    """Return the warnings about issuing a draft with these facts now; most drafts have none."""
    warnings = find_warnings(user, draft, facts, now=now, today=local_date(now, user))
    alike = find_alike(user, draft, now=now)
    if not alike and not any(vars(warnings).values()):
        return ""
    last, same_total = warnings.last_issue_date, warnings.same_total
    values = {
        "warnings": warnings,
        "alike": alike,
        "issued_at": format_instant(same_total.issued_at, user) if same_total else "",
        "issue_date": format_day(draft.issue_date),
        "issue_year": f"{draft.issue_date.year:04d}",
        "last_issue_date": format_day(last) if last else "",
        "due_date": format_day(draft.due_date),
    }
    return render_to_string("invoicing/warnings.html", values)
