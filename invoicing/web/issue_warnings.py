"""The warnings before something is issued, as pages show them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.text import Truncator

from invoicing.document_approvals import (
    COUNTED,
    Asking,
    find_alike,
    find_last_rejection,
)
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.missing import Missing
from invoicing.e_invoices.writing import missing_facts
from invoicing.languages import APPLICATION_LANGUAGE
from invoicing.models import Document, Line, User
from invoicing.paper.formats import (
    Formats,
    format_day,
    format_instant,
    local_date,
    time_zone_of,
)
from invoicing.pdf.making import GlyphsMissingError, missing_glyphs
from invoicing.services.customer_history import COMPARED, Difference, History, find_history
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import Check, Warnings, find_warnings
from invoicing.services.working_hours import WEEKDAYS, is_outside_hours
from invoicing.web.changes import VERSION, Change, find_changes
from invoicing.web.mending import Flaw, flaws_of, group_flaws

# So many warnings are shown at once, the weightiest, and so many lines at another price.
MOST = 7
MOST_LINES = 5
# So much of a description tells which line it is.
QUOTED = 100

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


@dataclass(frozen=True, kw_only=True)
class Point:
    """A sentence of a warning, with a link behind it, and what somebody typed as a quotation."""

    text: str
    url: str = ""
    link: str = ""
    end: str = "."
    quote: str = ""
    points: Sequence["Point"] = ()
    changes: Sequence[Change] = ()


def render_warnings(
    user: User, draft: Document, facts: Facts, *, now: datetime, asking: Asking | None = None
) -> str:
    """Return the warnings about issuing a draft with these facts now; a usual one has none.

    The weightiest come first. `asking` is given where an agent asks for it.
    """
    warnings = find_warnings(draft, facts, today=local_date(now, user))
    history = find_history(user, draft, now=now)
    points = [
        *_rejection(user, draft, facts, asking),
        *_repetitions(user, draft, history, now=now),
        *_amount(draft, warnings, history),
        *_customer(warnings, history),
        *_differences(draft, history.differences),
        *_dates(draft, warnings),
        *(_asking(user, asking) if asking else ()),
        *_flaws(user, draft, facts, warnings.checks),
    ]
    if not points:
        return ""
    values = {"shown": points[:MOST], "further": points[MOST:]}
    return render_to_string("invoicing/warnings.html", values)


def _rejection(user: User, draft: Document, facts: Facts, asking: Asking | None) -> Iterator[Point]:
    """Yield that the person rejected it; where an agent asks, the paper marks what changed."""
    rejection = find_last_rejection(user, draft)
    if rejection is None:
        return
    found = find_changes(rejection.facts, facts)
    changes = [change for change in found if change.label != VERSION]
    since = "It has changed since." if changes else "Nothing on it has changed since."
    moment = format_instant(rejection.decided_at, user)
    text = f"You rejected the issue of this draft on {moment}. {since}"
    reason = " Your reason:" if rejection.reason else ""
    yield Point(text=text + reason, quote=rejection.reason, changes=() if asking else changes)


def _repetitions(
    user: User, draft: Document, history: History, *, now: datetime
) -> Iterator[Point]:
    if same := history.same_total:
        yield _repetition(user, same, "the same total")
    if same := history.same_lines:
        yield _repetition(user, same, "the same lines")
    if alike := find_alike(user, draft, now=now):
        is_decided = alike.approval.decision  # and, as it may be issued, approved
        asked = "You approved the issue of" if is_decided else "You are also asked to issue"
        yield Point(
            text=f"{asked} another draft with the same total for this customer:",
            url=reverse("agent_approvals:review", args=[alike.approval.pk]),
            link=alike.target.draft_code,
        )


def _repetition(user: User, document: Document, same: str) -> Point:
    kind = "A credit note" if document.is_credit_note else "An invoice"
    moment = format_instant(document.issued_at, user)
    text = f"{kind} with {same} was issued to this customer on {moment}:"
    return Point(text=text, url=_url(document), link=str(document))


def _url(document: Document) -> str:
    return reverse("document", args=[document.pk])


def _formats(draft: Document) -> Formats:
    return Formats(APPLICATION_LANGUAGE, draft.currency_code, draft.minor_unit)


def _amount(draft: Document, warnings: Warnings, history: History) -> Iterator[Point]:
    money = _formats(draft).money
    if warnings.watched_from is not None:
        least = money(warnings.watched_from)
        yield Point(text=f"The owner wants every document of {least} or more to be checked.")
    if usual := history.usual:
        yield Point(
            text=f"The total, {money(draft.grand_total)}, is more than three times the highest of"
            f" the last {usual.count} invoices to this customer in {draft.currency_code}, which is"
            f" {money(usual.highest)}. Their median is {money(usual.median)}."
        )


def _customer(warnings: Warnings, history: History) -> Iterator[Point]:
    if warnings.is_watched:
        yield Point(text="The owner wants every document for this customer to be checked.")
    if history.is_first and history.is_cut:
        text = f"None of the last {COMPARED:,} documents of this customer is an issued invoice."
        yield Point(text=text)
    elif history.is_first:
        yield Point(text="No invoice has been issued to this customer yet.")


def _differences(draft: Document, differences: Sequence[Difference]) -> Iterator[Point]:
    if not differences:
        return
    points = [_difference(_formats(draft), each) for each in differences[:MOST_LINES]]
    more = len(differences) - MOST_LINES
    if more > 0:
        points.append(Point(text=f"and {more} more"))
    text = "These lines differ from the last invoice with the same description:"
    yield Point(text=text, points=points)


def _difference(formats: Formats, difference: Difference) -> Point:
    now, before = difference.line, difference.before
    prices = [formats.money(each.unit_price) for each in (now, before)]
    taxes = [_name_tax(formats, each) for each in (now, before)]
    told = [f"{new} instead of {old}" for new, old in (prices, taxes) if new != old]
    return Point(
        text=f"Line {now.position + 1}: {', '.join(told)} on",
        url=_url(difference.invoice),
        link=str(difference.invoice),
        end=":",
        quote=Truncator(now.description).chars(QUOTED),
    )


def _name_tax(formats: Formats, line: Line) -> str:
    return f"{formats.percentage(line.tax_rate.percentage)} tax" if line.tax_rate else "no tax"


def _dates(draft: Document, warnings: Warnings) -> Iterator[Point]:
    if warnings.is_future:
        yield Point(text=f"The issue date is in the future: {format_day(draft.issue_date)}.")
    if warnings.is_other_year:
        year = f"{draft.issue_date.year:04d}"
        yield Point(text=f"The issue date is not in the current year: {year}.")
    if last := warnings.last_issue_date:
        text = f"The last document of this series has a later issue date: {format_day(last)}."
        yield Point(text=text)
    if warnings.is_due_late:
        due = format_day(draft.due_date)
        yield Point(text=f"The due date is more than a year after the issue date: {due}.")


def _asking(user: User, asking: Asking) -> Iterator[Point]:
    if asking.connected_at:
        moment = format_instant(asking.connected_at, user)
        text = f"This agent was connected less than a day before it asked: on {moment}."
        yield Point(text=text)
    if asking.times:
        times = f"{asking.times}" if asking.times <= COUNTED else f"more than {COUNTED}"
        text = f"This agent asked for an approval {times} times within {asking.minutes} minutes."
        yield Point(text=text)
    local = asking.asked_at.astimezone(time_zone_of(user))
    if is_outside_hours(user, local):
        day = WEEKDAYS[local.weekday()].capitalize()
        moment = format_instant(local, user)
        yield Point(text=f"This agent asked outside your working hours: on {day}, {moment}.")


def _flaws(user: User, draft: Document, facts: Facts, checks: Iterable[Check]) -> Iterator[Point]:
    """Yield what the law or the e-invoice that the customer wants would lack, and a PDF."""
    missing = _missing_of_wanted(draft, facts)
    told = [each for each in checks if not _is_told(each, missing)]
    yield from _mended(user, draft, [Flaw(each.record, "", each.label) for each in told])
    if glyphs := missing_glyphs(draft, facts):
        yield Point(text=f"{GlyphsMissingError(glyphs)} With them there will be no PDF.")
    if missing:
        wanted = draft.customer.get_e_invoice_display()
        text = f"For the e-invoice that the customer wants, {wanted}, this is missing:"
        yield Point(text=text, points=list(_mended(user, draft, flaws_of(missing))))


def _mended(user: User, draft: Document, flaws: Iterable[Flaw]) -> Iterator[Point]:
    """Yield the flaws, behind the last of each record a link to where it is mended."""
    for group in group_flaws(user, draft, flaws):
        *texts, last = group.texts
        yield from (Point(text=text) for text in texts)
        yield Point(text=last, url=group.url, link=group.link, end="")


def _missing_of_wanted(draft: Document, facts: Facts) -> list[Missing]:
    """Return what the e-invoice that the customer wants would lack."""
    wanted = draft.customer.e_invoice
    return missing_facts(draft, facts, Kind(wanted)) if wanted else []


def _is_told(check: Check, missing: list[Missing]) -> bool:
    """Return whether the same is told of the e-invoice that the customer wants."""
    end = _IN_OTHER_WORDS.get(check, check.label)
    return any(each.text.endswith(end) for each in missing)
