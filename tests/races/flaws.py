"""What is wrong with what is stored, whoever did what in whichever order."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from agent_access.models import AuditEvent, Connection
from agent_access.verification import ChainBrokenError, Position, follow, read_heads
from invoicing.models import Customer, Document, NumberSeries
from invoicing.models.search_words import SearchWord
from invoicing.services.search_words import rows_of_customer, rows_of_document

REBUILD = "an operator rebuilds the words of searches"
NUMBERED = {model._meta.db_table for model in (NumberSeries, Document)}
FOUND = {model._meta.db_table for model in (Customer, Document, SearchWord)}


def find_flaws(written: Collection[str], *, acts: Collection[str]) -> list[str]:
    """Return what is wrong with what is stored now: chains, numbers, and the words of searches.

    Only the tables that were `written` can differ from those of a stage without a flaw. Words that
    were rebuilt meanwhile may be those of a former name, which find nothing (ADR 14).
    """
    flaws = [*_find_chain_flaws()]
    if NUMBERED & set(written):
        flaws += _find_number_flaws()
    if FOUND & set(written):
        kept, due = _read_words(), _find_words()
        if due - kept or (kept - due and REBUILD not in acts):
            flaws.append("searches find by other words than the records have")
    return flaws


def _find_chain_flaws() -> Iterator[str]:
    """Yield what is wrong with chains, by two queries where find_breaks() makes some for each."""
    heads, ends = read_heads(), defaultdict[str, Position](Position)
    for event in AuditEvent.objects.order_by("chain", "sequence").values():
        chain = event["chain"]
        try:
            ends[chain] = follow(ends[chain], event)
        except ChainBrokenError as broken:
            yield f"chain {chain} breaks: {broken.args}"
    chains = {str(pk) for pk in Connection.objects.values_list("pk", flat=True)} | heads.keys()
    for chain in sorted(chains | ends.keys()):
        if ends[chain] != heads.get(chain):
            yield f"chain {chain} ends at {ends[chain]}, and its head is {heads.get(chain)}"


def _find_number_flaws() -> Iterator[str]:
    """Yield each series whose numbers are not those up to its last, once each."""
    for series in NumberSeries.objects.all():
        issued = Document.objects.filter(series=series).order_by("series_value")
        values = [each or 0 for each in issued.values_list("series_value", flat=True)]
        if values and values != [*range(values[0], series.last_value + 1)]:
            yield f"numbers {values} of {series.type}, whose last is {series.last_value}"


def _read_words() -> set[tuple[bytes, ...]]:
    rows = SearchWord.objects.values_list("word", "customer", "record")
    return {tuple(map(bytes, row)) for row in rows}


def _find_words() -> set[tuple[bytes, ...]]:
    of_customers = map(rows_of_customer, Customer.objects.all())
    of_documents = map(rows_of_document, Document.objects.select_related("customer"))
    return {tuple(row) for rows in (*of_customers, *of_documents) for row in rows}
