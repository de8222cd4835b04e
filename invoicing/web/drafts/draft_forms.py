"""The form of the header and those of all lines of a draft, handled as one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django import forms

from invoicing.errors import FieldProblem
from invoicing.models import Document, Line
from invoicing.services.draft_input import DraftInput, LineInput
from invoicing.totals import DiscountType
from invoicing.web.drafts.choices import Choices
from invoicing.web.drafts.forms import HeaderForm, LineForm
from invoicing.web.drafts.typed import TypedDraft
from invoicing.web.formats import Formats

# In place of what cannot be read, so that the service can check all else.
_UNREAD_HEADER = {
    "customer_id": UUID(int=0),
    "currency_code": "",
    "issue_date": date.min,
    "due_date": date.max,
}
_UNREAD_LINE = {"description": "?", "quantity": 1, "unit_price": 0}


@dataclass(frozen=True)
class Mistake:
    """A field with an error: its label on the page, and the ID of its input element."""

    label: str
    field_id: str


@dataclass
class DraftForms:
    """The forms of the header and the lines, of `typed`; `errors` are those of no single field."""

    typed: TypedDraft
    header: HeaderForm
    lines: list[LineForm]
    errors: list[str] = field(default_factory=list)

    @classmethod
    def showing(cls, typed: TypedDraft, choices: Choices) -> "DraftForms":
        """Return unbound forms: they show the texts without checking them."""
        lines = [_line_form(typed, i, choices, initial=line) for i, line in enumerate(typed.lines)]
        return cls(typed, HeaderForm(initial=typed.header, choices=choices), lines)

    @classmethod
    def checking(cls, typed: TypedDraft, choices: Choices) -> "DraftForms":
        """Return bound forms: they check the texts."""
        lines = [
            _line_form(
                typed, i, choices, data={f"line-{i}-{name}": text for name, text in line.items()}
            )
            for i, line in enumerate(typed.lines)
        ]
        return cls(typed, HeaderForm(typed.header, choices=choices), lines)

    def is_valid(self) -> bool:
        # A list, not a generator: every form is checked, and a person sees all mistakes at once.
        answers = [form.is_valid() for form in (self.header, *self.lines)]
        return all(answers)

    def show_readings(self, preview: Document) -> None:
        """Say in each line how its numbers were understood."""
        formats = Formats(preview.language, preview.currency_code, preview.minor_unit)
        for form, line in zip(self.lines, preview.parts.lines, strict=True):
            form.reading = _describe_reading(line, formats)

    def find_mistakes(self) -> Iterator[Mistake]:
        """Yield the fields with errors, the header's first."""
        yield from (Mistake(str(each.label), each.id_for_label) for each in _marked(self.header))
        for number, line in enumerate(self.lines, start=1):
            for each in _marked(line):
                yield Mistake(f"Line {number}, {str(each.label).lower()}", each.id_for_label)

    def read(self) -> DraftInput:
        """Return the draft, with stand-ins for the fields with errors."""
        header = {**_UNREAD_HEADER, **self.header.cleaned_data}
        return DraftInput(**header, line_items=tuple(map(_read_line, self.lines)))

    def add_problems(self, problems: Iterable[FieldProblem]) -> None:
        """Add the problems that the service found to the fields that they name."""
        unread = set(self.header.errors)
        for problem in problems:
            match problem.path.split("."):
                case ["line_items", index, name]:
                    self.lines[int(index)].add_error(name, _as_sentence(problem))
                case ["line_items"]:
                    self.errors.append(f"The lines {problem.problem}.")
                case [name] if name not in unread:
                    self.header.add_error(name, _as_sentence(problem))


def _read_line(line: LineForm) -> LineInput:
    """Return the line without what has errors; without its discount if that cannot be judged."""
    read = {name: value for name, value in line.cleaned_data.items() if name not in line.errors}
    judged_by = {"discount_type"}
    if read.get("discount_type") is DiscountType.AMOUNT:
        judged_by |= {"quantity", "unit_price"}
    if not judged_by.isdisjoint(line.errors):
        read |= {"discount_type": None, "discount_value": None}
    return LineInput(**{**_UNREAD_LINE, **read})


def _describe_reading(line: Line, formats: Formats) -> str:
    """Return what a line was calculated from: quantity, price and discount, and the amount."""
    factors = formats.quantity(line.quantity), formats.money(line.unit_price)
    gross = " \N{MULTIPLICATION SIGN} ".join(factors)
    discount = f" \N{MINUS SIGN} {formats.money(line.discount_amount)}"
    return f"{gross}{discount if line.discount_amount else ''} = {formats.money(line.net_amount)}"


def _marked(form: forms.Form) -> Iterator[forms.BoundField]:
    return (each for each in form if each.errors)


def _as_sentence(problem: FieldProblem) -> str:
    """Return a problem, which reads on from a field's name, as a sentence of its own."""
    return f"{problem.problem[0].upper()}{problem.problem[1:]}."


def _line_form(typed: TypedDraft, index: int, choices: Choices, **values: Any) -> LineForm:
    return LineForm(prefix=f"line-{index}", choices=choices, minor_unit=typed.minor_unit, **values)
