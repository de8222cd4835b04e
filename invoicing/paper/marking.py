"""A document on paper with what it said before: texts that changed, lines that came and went."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Self

from invoicing.draft_fields import LINE_TEXTS
from invoicing.models.documents import TOTALS
from invoicing.paper.layout import FIGURES, Paper, PaperLine, lay_out
from invoicing.services.document_facts import Facts

# A line as it was and as it is; the side that lacks it is None.
LinePair = tuple[PaperLine | None, PaperLine | None]
# The labels and texts of what stands in rows.
Rows = list[tuple[str, str]]

_CELLS = ("description", *LINE_TEXTS, *FIGURES, "tax_name")
_ADDED, _REMOVED = "added", "removed"


class Changed(str):
    """A text of the paper as it is, with the text that stood there `before`.

    It is empty on a side that lacks it, and true all the same, so that the paper shows its place.
    """

    before: str
    __slots__ = ("before",)

    def __new__(cls, text: str, before: str) -> Self:
        """Make one of the texts of both sides."""
        made = super().__new__(cls, text)
        made.before = before
        return made

    def __bool__(self) -> bool:
        return True


def match_lines(before: Sequence[PaperLine], after: Sequence[PaperLine]) -> list[LinePair]:
    """Return which line became which: those that are the same first, then the same description."""
    return list(_match(before, after, (_content_of, _description_of)))


def _match(
    before: Sequence[PaperLine],
    after: Sequence[PaperLine],
    keys: Sequence[Callable[[PaperLine], Any]],
) -> Iterator[LinePair]:
    if not keys:
        yield from zip_longest(before, after)
        return
    key, *others = keys
    matcher = SequenceMatcher(None, [*map(key, before)], [*map(key, after)], autojunk=False)
    for tag, *(begin, end, new_begin, new_end) in matcher.get_opcodes():
        old, new = before[begin:end], after[new_begin:new_end]
        yield from zip(old, new, strict=True) if tag == "equal" else _match(old, new, others)


def _content_of(line: PaperLine) -> tuple[str, ...]:
    return tuple(line.get(name, "") for name in _CELLS)


def _description_of(line: PaperLine) -> str:
    description: str = line["description"]
    return description


def mark_changes(facts: Facts, before: Facts) -> Paper:
    """Lay out facts with what the paper said before: that is written in the language of now.

    The last line stands with the totals, though it may be one that is gone.
    """
    paper, old = lay_out(facts), lay_out({**before, "language": facts["language"]})
    lines = [_mark_line(*pair) for pair in match_lines(old["lines"], paper["lines"])]
    has_discounts = paper["has_discounts"] or old["has_discounts"]
    return {
        **paper,
        **_mark(paper, old, *TOTALS, "notes", "iban", "bic"),
        "head": _mark_rows(paper["head"], old["head"]),
        "seller": _mark_party(paper["seller"], old["seller"]),
        "seller_details": _mark_rows(paper["seller_details"], old["seller_details"]),
        "customer": _mark_party(paper["customer"], old["customer"]),
        "buyer_details": _mark_rows(paper["buyer_details"], old["buyer_details"]),
        "lines": lines,
        "earlier_lines": lines[:-1],
        "last_line": lines[-1],
        "last_line_begin": "",
        "is_of_one_piece": len(lines) == 1,
        "has_discounts": has_discounts,
        "taxes": _mark_taxes(paper["taxes"], old["taxes"]),
        "untaxed": _mark_facts(paper["untaxed"], old["untaxed"]),
        "reasons": _mark_reasons(paper["reasons"], old["reasons"]),
        "national_tax": _mark_facts(paper["national_tax"], old["national_tax"]),
    }


def is_marked(paper: Any) -> bool:
    """Return whether the paper, or a part of it, shows that anything changed."""
    if isinstance(paper, dict):
        return bool(paper.get("mark")) or any(map(is_marked, paper.values()))
    if isinstance(paper, list | tuple):
        return any(map(is_marked, paper))
    return isinstance(paper, Changed)


def _mark(now: Mapping[str, Any], old: Mapping[str, Any], *names: str) -> dict[str, str]:
    """Return these texts, those that changed with what they were."""
    return {name: _mark_text(now.get(name) or "", old.get(name) or "") for name in names}


def _mark_text(now: str, old: str) -> str:
    return now if now == old else Changed(now, old)


def _mark_party(now: Facts, old: Facts) -> Facts:
    return {**now, **_mark(now, old, "name", "address", "footer_text")}


def _mark_facts(now: Facts, old: Facts) -> Facts:
    """Return facts whose values are all texts; one side may have none."""
    return _mark(now, old, *dict.fromkeys((*now, *old)))


def _mark_rows(now: Rows, old: Rows) -> Rows:
    texts, before = dict(now), dict(old)
    labels = dict.fromkeys((*texts, *before))
    return [(each, _mark_text(texts.get(each, ""), before.get(each, ""))) for each in labels]


def _mark_taxes(now: Sequence[Facts], old: Sequence[Facts]) -> list[Facts]:
    """Return the rows of rates; each has one on a document."""
    names = ("name", "percentage", "taxable_amount", "tax_amount")
    rows, before = ({row["tax_rate_id"]: row for row in each} for each in (now, old))
    rates = dict.fromkeys((*rows, *before))
    return [_mark(rows.get(rate, {}), before.get(rate, {}), *names) for rate in rates]


def _mark_reasons(now: Sequence[str], old: Sequence[str]) -> list[str]:
    kept = [each if each in old else Changed(each, "") for each in now]
    return [*kept, *(Changed("", each) for each in old if each not in now)]


def _mark_line(old: PaperLine | None, now: PaperLine | None) -> PaperLine:
    """Return a line with its `mark`: added, removed, or an empty text."""
    shown = now or old or {}
    mark = "" if old and now else _ADDED if now else _REMOVED
    texts = _mark(now, old, *_CELLS) if old and now else {}
    return {**shown, **texts, "mark": mark}
