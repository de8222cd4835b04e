"""The warnings before something is issued, as pages show them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.dates import WEEKDAYS
from django.utils.formats import number_format
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agent_access.translations import Text, as_written
from invoicing.document_approvals import (
    COUNTED,
    Asking,
    find_alike,
    find_last_rejection,
)
from invoicing.e_invoices import missing as missing_facts_of
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.missing import Missing
from invoicing.e_invoices.writing import missing_facts
from invoicing.languages import page_language
from invoicing.models import Document, DocumentType, Line, User
from invoicing.paper.formats import (
    Formats,
    format_day,
    format_instant,
    local_date,
    time_zone_of,
)
from invoicing.services.customer_history import COMPARED, Difference, History, find_history
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import Check, Warnings, find_warnings
from invoicing.services.working_hours import is_outside_hours
from invoicing.web.changes import VERSION, Change, find_changes
from invoicing.web.mending import Flaw, flaws_of, group_flaws

# So many warnings are shown at once, the weightiest, and so many lines at another price.
MOST = 7
MOST_LINES = 5
# So much of a description tells which line it is.
QUOTED = 100

# The sentences with which an e-invoice names what a check names in other words.
_IN_OTHER_WORDS: Mapping[Check, tuple[str, ...]] = {
    Check.COMPANY_TAX_NUMBER: (missing_facts_of.TAX_NUMBER, missing_facts_of.REGISTRATION),
    Check.COMPANY_BANK: (missing_facts_of.IBAN,),
    Check.CUSTOMER_NO_VAT_NUMBER: (missing_facts_of.BUYER_VAT_NUMBER,),
    Check.TAXES_UNKNOWN: (missing_facts_of.RATE_UNKNOWN,),
    Check.TAXES_UNTAXED: (missing_facts_of.UNTAXED_UNKNOWN,),
    Check.DRAFT_NO_SUPPLY_DATE: (missing_facts_of.SUPPLY_DATE,),
}

# What repeats itself, by the type of document.
SAME_TOTAL: Mapping[str, Text] = {
    DocumentType.INVOICE: _(
        "An invoice with the same total was issued to this customer on %(moment)s:"
    ),
    DocumentType.CREDIT_NOTE: _(
        "A credit note with the same total was issued to this customer on %(moment)s:"
    ),
}
SAME_LINES: Mapping[str, Text] = {
    DocumentType.INVOICE: _(
        "An invoice with the same lines was issued to this customer on %(moment)s:"
    ),
    DocumentType.CREDIT_NOTE: _(
        "A credit note with the same lines was issued to this customer on %(moment)s:"
    ),
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
        *_rejection(user, draft, facts),
        *_repetitions(user, draft, history, now=now),
        *_amount(draft, warnings, history),
        *_customer(warnings, history),
        *_differences(draft, history.differences),
        *_dates(draft, warnings),
        *(_asking(user, asking) if asking else ()),
        *_flaws(user, draft, facts, warnings.checks),
    ]
    return render_points(points)


def render_points(points: Sequence[Point]) -> str:
    if not points:
        return ""
    values = {"shown": points[:MOST], "further": points[MOST:]}
    return render_to_string("invoicing/warnings.html", values)


def _rejection(user: User, draft: Document, facts: Facts) -> Iterator[Point]:
    """Yield that the person rejected it, and what changed since.

    Where an agent asks, the paper marks that only until the person has looked at it once.
    """
    rejection = find_last_rejection(user, draft)
    if rejection is None:
        return
    found = find_changes(rejection.facts, facts)
    changes = [change for change in found if change.label != VERSION]
    moment = format_instant(rejection.decided_at, user)
    text = _rejected(has_changed=bool(changes), has_reason=bool(rejection.reason))
    yield Point(text=text % {"moment": moment}, quote=rejection.reason, changes=changes)


def _rejected(*, has_changed: bool, has_reason: bool) -> str:
    if has_changed and has_reason:
        return gettext(
            "You rejected the issue of this draft on %(moment)s. It has changed since. Your reason:"
        )
    if has_changed:
        return gettext("You rejected the issue of this draft on %(moment)s. It has changed since.")
    if has_reason:
        return gettext(
            "You rejected the issue of this draft on %(moment)s. Nothing on it has changed since."
            " Your reason:"
        )
    return gettext(
        "You rejected the issue of this draft on %(moment)s. Nothing on it has changed since."
    )


def _repetitions(
    user: User, draft: Document, history: History, *, now: datetime
) -> Iterator[Point]:
    if same := history.same_total:
        yield _repetition(user, same, SAME_TOTAL)
    if same := history.same_lines:
        yield _repetition(user, same, SAME_LINES)
    if alike := find_alike(user, draft, now=now):
        is_decided = alike.approval.decision  # and, as it may be issued, approved
        yield Point(
            text=gettext(
                "You approved the issue of another draft with the same total for this customer:"
            )
            if is_decided
            else gettext(
                "You are also asked to issue another draft with the same total for this customer:"
            ),
            url=reverse("agent_approvals:review", args=[alike.approval.pk]),
            link=alike.target.draft_code,
        )


def _repetition(user: User, document: Document, said: Mapping[str, Text]) -> Point:
    moment = format_instant(document.issued_at, user)
    text = str(said[document.type]) % {"moment": moment}
    return Point(text=text, url=_url(document), link=str(document))


def _url(document: Document) -> str:
    return reverse("document", args=[document.pk])


def _formats(draft: Document) -> Formats:
    return Formats(page_language(), draft.currency_code, draft.minor_unit)


def _amount(draft: Document, warnings: Warnings, history: History) -> Iterator[Point]:
    money = _formats(draft).money
    if warnings.watched_from is not None:
        text = gettext("The owner wants every document of %(amount)s or more to be checked.")
        yield Point(text=text % {"amount": money(warnings.watched_from)})
    if usual := history.usual:
        # There are three at least.
        text = gettext(
            "The total, %(total)s, is more than three times the highest of the last %(count)s"
            " invoices to this customer in %(currency)s, which is %(highest)s. Their median is"
            " %(median)s."
        )
        values = {
            "total": money(draft.grand_total),
            "count": usual.count,
            "currency": draft.currency_code,
            "highest": money(usual.highest),
            "median": money(usual.median),
        }
        yield Point(text=text % values)


def _customer(warnings: Warnings, history: History) -> Iterator[Point]:
    if warnings.is_watched:
        yield Point(text=gettext("The owner wants every document for this customer to be checked."))
    if history.is_first and history.is_cut:
        text = gettext(
            "None of the last %(count)s documents of this customer is an issued invoice."
        )
        yield Point(text=text % {"count": number_format(COMPARED, force_grouping=True)})
    elif history.is_first:
        yield Point(text=gettext("No invoice has been issued to this customer yet."))


def _differences(draft: Document, differences: Sequence[Difference]) -> Iterator[Point]:
    if not differences:
        return
    points = [_difference(_formats(draft), each) for each in differences[:MOST_LINES]]
    more = len(differences) - MOST_LINES
    if more > 0:
        text = ngettext("and %(number)s more", "and %(number)s more", more)
        points.append(Point(text=text % {"number": more}))
    text = gettext("These lines differ from the last invoice with the same description:")
    yield Point(text=text, points=points)


def _difference(formats: Formats, difference: Difference) -> Point:
    now, before = difference.line, difference.before
    prices = [formats.money(each.unit_price) for each in (now, before)]
    taxes = [_name_tax(formats, each) for each in (now, before)]
    instead = gettext("%(new)s instead of %(old)s")
    told = [instead % {"new": new, "old": old} for new, old in (prices, taxes) if new != old]
    text = gettext("Line %(number)s: %(differences)s on")
    return Point(
        text=text % {"number": now.position + 1, "differences": ", ".join(told)},
        url=_url(difference.invoice),
        link=str(difference.invoice),
        end=":",
        quote=Truncator(now.description).chars(QUOTED),
    )


def _name_tax(formats: Formats, line: Line) -> str:
    if not line.tax_rate:
        return gettext("no tax")
    return gettext("%(percentage)s tax") % {
        "percentage": formats.percentage(line.tax_rate.percentage)
    }


def _dates(draft: Document, warnings: Warnings) -> Iterator[Point]:
    if warnings.is_future:
        yield _dated(
            gettext("The issue date is in the future: %(day)s."), format_day(draft.issue_date)
        )
    if warnings.is_other_year:
        year = f"{draft.issue_date.year:04d}"
        yield _dated(gettext("The issue date is not in the current year: %(day)s."), year)
    if last := warnings.last_issue_date:
        text = gettext("The last document of this series has a later issue date: %(day)s.")
        yield _dated(text, format_day(last))
    if warnings.is_due_late:
        text = gettext("The due date is more than a year after the issue date: %(day)s.")
        yield _dated(text, format_day(draft.due_date))


def _dated(text: str, day: str) -> Point:
    return Point(text=text % {"day": day})


def _asking(user: User, asking: Asking) -> Iterator[Point]:
    if asking.connected_at:
        moment = format_instant(asking.connected_at, user)
        text = gettext("This agent was connected less than a day before it asked: on %(moment)s.")
        yield Point(text=text % {"moment": moment})
    if asking.times:
        yield Point(text=_times(asking))
    local = asking.asked_at.astimezone(time_zone_of(user))
    if is_outside_hours(user, local):
        text = gettext("This agent asked outside your working hours: on %(weekday)s, %(moment)s.")
        values = {"weekday": WEEKDAYS[local.weekday()], "moment": format_instant(local, user)}
        yield Point(text=text % values)


def _times(asking: Asking) -> str:
    if asking.times > COUNTED:
        text = gettext(
            "This agent asked for an approval more than %(times)s times within %(minutes)s minutes."
        )
    else:
        text = ngettext(
            "This agent asked for an approval %(times)s time within %(minutes)s minutes.",
            "This agent asked for an approval %(times)s times within %(minutes)s minutes.",
            asking.times,
        )
    return text % {"times": min(asking.times, COUNTED), "minutes": asking.minutes}


def _flaws(user: User, draft: Document, facts: Facts, checks: Iterable[Check]) -> Iterator[Point]:
    """Yield what the law or the e-invoice that the customer wants would lack."""
    missing = _missing_of_wanted(draft, facts)
    told = [each for each in checks if not _is_told(each, missing)]
    yield from _mended(user, draft, [Flaw(each.record, "", str(each.label)) for each in told])
    if missing:
        wanted = draft.customer.get_e_invoice_display()
        text = gettext("For the e-invoice that the customer wants, %(wanted)s, this is missing:")
        yield Point(
            text=text % {"wanted": wanted}, points=list(_mended(user, draft, flaws_of(missing)))
        )


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
    sentences = _IN_OTHER_WORDS.get(check, (as_written(check.label),))
    return any(each.sentence in sentences for each in missing)
