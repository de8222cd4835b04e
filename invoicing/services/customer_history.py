"""How a draft compares with what its customer got before, as far as the person may see that."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median_low
from uuid import UUID

from django.db.models import Count

from invoicing.models import Document, DocumentStatus, DocumentType, Line, User
from invoicing.models.documents import DocumentQuerySet

# Only so many of a customer's documents, the newest, are looked at.
COMPARED = 2000
LATELY = timedelta(days=30)
# A total is unusual if it is more than three times the highest of the last invoices in its
# currency, of which there must be three.
LAST = 20
LEAST = 3
TIMES = 3


@dataclass(frozen=True)
class Amounts:
    """What the last invoices in the currency of a draft came to, in its minor unit."""

    count: int
    highest: int
    median: int


@dataclass(frozen=True)
class Difference:
    """A line at another price or tax than `before`, on the last invoice with its description."""

    line: Line
    before: Line
    invoice: Document


@dataclass(frozen=True)
class History:
    """What is unusual about a draft, given what its customer got.

    `same_total` and `same_lines` are the last document of the last 30 days with this total, and the
    last invoice with other ones but these descriptions and quantities. `usual` is set if the total
    is far above it. `is_first` tells that no invoice was issued before; `is_cut`, that not all
    documents of the customer were looked at. All but `same_total` is told of invoices only.
    """

    same_total: Document | None = None
    same_lines: Document | None = None
    usual: Amounts | None = None
    is_first: bool = False
    is_cut: bool = False
    differences: Sequence[Difference] = ()


def find_history(user: User, draft: Document, *, now: datetime) -> History:
    """Return what is unusual about this draft, whose facts were just read."""
    compared, is_cut = _newest_documents(user, draft)
    issued = compared.filter(status=DocumentStatus.ISSUED, type=draft.type)
    alike = issued.filter(currency_code=draft.currency_code)
    since = now - LATELY
    same_total = alike.filter(grand_total=draft.grand_total, issued_at__gte=since)
    latest = same_total.order_by("-issued_at").first()
    if draft.type != DocumentType.INVOICE:
        return History(same_total=latest)
    columns = ("number", "issued_at", "net_total", "grand_total")
    last = {each.pk: each for each in alike.only(*columns).order_by("-issued_at", "-pk")[:LAST]}
    if not last:
        return History(is_first=not issued.exists(), is_cut=is_cut)
    lines = _lines_like(draft, last)
    lately = [each for each in last.values() if each.issued_at and each.issued_at >= since]
    return History(
        same_total=latest,
        same_lines=_same_lines(draft, lately, lines),
        usual=_exceeded(draft, [each.grand_total for each in last.values()]),
        differences=tuple(_differences(draft, last, lines)),
    )


def _newest_documents(user: User, draft: Document) -> tuple[DocumentQuerySet, bool]:
    """Return the newest documents of the draft's customer, and whether there are older ones."""
    newest = Document.objects.visible_to(user).filter(customer=draft.customer_id).order_by("-id")
    # A query of its own: for a subquery of so many, PostgreSQL would read the whole table.
    oldest = newest.values_list("pk", flat=True)[COMPARED - 1 : COMPARED].first()
    return (newest.filter(pk__gte=oldest), True) if oldest else (newest, False)


def _exceeded(draft: Document, totals: Sequence[int]) -> Amounts | None:
    if len(totals) < LEAST or draft.grand_total <= TIMES * max(totals):
        return None
    return Amounts(len(totals), max(totals), median_low(totals))


def _lines_like(draft: Document, invoices: Iterable[UUID]) -> list[Line]:
    """Return those lines of the invoices, in their order, that a line of the draft describes."""
    described = {line.description for line in draft.lines.all()}
    places = {pk: place for place, pk in enumerate(invoices)}
    lines = Line.objects.filter(document__in=list(places), description__in=described)
    found = lines.select_related("tax_rate")
    return sorted(found, key=lambda line: (places[line.document_id], line.position))


def _same_lines(
    draft: Document, invoices: Sequence[Document], lines: Iterable[Line]
) -> Document | None:
    others = [each for each in invoices if each.grand_total != draft.grand_total]
    counted = Line.objects.filter(document__in=others).values_list("document")
    counts = dict(counted.annotate(count=Count("pk")))
    asked = Counter(map(_content, draft.lines.all()))
    for each in others:
        found = Counter(_content(line) for line in lines if line.document_id == each.pk)
        if found == asked and counts[each.pk] == asked.total():
            return each
    return None


def _content(line: Line) -> tuple[str, int]:
    return line.description, line.quantity_ten_thousandths


def _differences(
    draft: Document, invoices: dict[UUID, Document], lines: Iterable[Line]
) -> Iterator[Difference]:
    before: dict[str, list[Line]] = {}
    for line in lines:
        last = before.setdefault(line.description, [line])
        if last[0] is not line and last[0].document_id == line.document_id:
            last.append(line)
    for line in draft.lines.all():
        last = before.get(line.description, [])
        if last and _terms(line) not in map(_terms, last):
            yield Difference(line, last[0], invoices[last[0].document_id])


def _terms(line: Line) -> tuple[int, int | None]:
    return line.unit_price, line.tax_rate.percentage_ten_thousandths if line.tax_rate else None
