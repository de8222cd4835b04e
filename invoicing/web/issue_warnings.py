"""The warnings before something is issued, as pages show them."""

from collections.abc import Mapping
from datetime import datetime

from django.template.loader import render_to_string

from invoicing.document_approvals import find_alike
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.missing import Missing
from invoicing.e_invoices.writing import missing_facts
from invoicing.models import Document, User
from invoicing.paper.formats import format_day, format_instant, local_date
from invoicing.pdf.making import GlyphsMissingError, missing_glyphs
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import Check, find_warnings
from invoicing.web.mending import Flaw, flaws_of, group_flaws

# How sentences end with which an e-invoice names what a check names in other words.
_IN_OTHER_WORDS: Mapping[Check, str | tuple[str, ...]] = {
    Check.COMPANY_TAX_NUMBER: (
        "The VAT number or the tax number of your company is missing.",
        "its VAT number must not be named.",
    ),
    Check.COMPANY_BANK: "The IBAN of your company is missing.",
    Check.CUSTOMER_NO_VAT_NUMBER: "The VAT number of the customer is missing.",
    Check.TAXES_UNKNOWN: "” has no category yet.",
    Check.TAXES_UNTAXED: "A line without a tax rate has no category yet.",
    Check.DRAFT_NO_SUPPLY_DATE: "The date of supply is missing: goods go to another country.",
}


def render_warnings(user: User, draft: Document, facts: Facts, *, now: datetime) -> str:
    """Return the warnings about issuing a draft with these facts now; most drafts have none."""
    warnings = find_warnings(user, draft, facts, now=now, today=local_date(now, user))
    alike = find_alike(user, draft, now=now)
    missing = _missing_of_wanted(draft, facts)
    glyphs = missing_glyphs(draft, facts)
    if not alike and not missing and not glyphs and not any(vars(warnings).values()):
        return ""
    last, same_total = warnings.last_issue_date, warnings.same_total
    checks = [each for each in warnings.checks if not _is_told(each, missing)]
    flaws = [Flaw(each.record, "", each.label) for each in checks]
    values = {
        "warnings": warnings,
        "groups": group_flaws(user, draft, flaws),
        "e_invoice": draft.customer.get_e_invoice_display(),
        "missing": list(group_flaws(user, draft, flaws_of(missing))),
        "glyphs": str(GlyphsMissingError(glyphs)) if glyphs else "",
        "alike": alike,
        "issued_at": format_instant(same_total.issued_at, user) if same_total else "",
        "issue_date": format_day(draft.issue_date),
        "issue_year": f"{draft.issue_date.year:04d}",
        "last_issue_date": format_day(last) if last else "",
        "due_date": format_day(draft.due_date),
    }
    return render_to_string("invoicing/warnings.html", values)


def _missing_of_wanted(draft: Document, facts: Facts) -> list[Missing]:
    """Return what the e-invoice that the customer wants would lack."""
    wanted = draft.customer.e_invoice
    return missing_facts(draft, facts, Kind(wanted)) if wanted else []


def _is_told(check: Check, missing: list[Missing]) -> bool:
    """Return whether the same is told of the e-invoice that the customer wants."""
    end = _IN_OTHER_WORDS.get(check, check.label)
    return any(each.text.endswith(end) for each in missing)
