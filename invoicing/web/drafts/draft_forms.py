"""The form of a draft's header and the formset of its lines, handled as one."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django import forms
from pydantic import ValidationError

from agent_access.fields import find_problems
from invoicing.draft_fields import DraftInput
from invoicing.errors import FieldProblem
from invoicing.models import Line
from invoicing.services.draft_content import DraftContent
from invoicing.web.drafts.choices import Choices
from invoicing.web.drafts.forms import LINES_PREFIX, HeaderForm, LineForm, LineFormSet
from invoicing.web.drafts.typed import TypedDraft
from invoicing.web.formats import Formats


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
    lines: "forms.BaseFormSet[LineForm]"
    errors: list[str] = field(default_factory=list)

    @classmethod
    def showing(cls, typed: TypedDraft, choices: Choices) -> "DraftForms":
        """Return unbound forms: they show the texts without checking them."""
        lines = _line_forms(typed, choices, initial=typed.lines)
        return cls(typed, HeaderForm(initial=typed.header, choices=choices), lines)

    @classmethod
    def checking(cls, typed: TypedDraft, choices: Choices) -> "DraftForms":
        """Return bound forms: they check the texts."""
        lines = _line_forms(typed, choices, data=typed.data_of_lines(LINES_PREFIX))
        return cls(typed, HeaderForm(typed.header, choices=choices), lines)

    def read(self) -> DraftInput | None:
        """Return the draft, judged by the rules of the tools, or None and mark all mistakes."""
        is_readable = all([self.header.is_valid(), self.lines.is_valid()])
        lines = [line.cleaned_data for line in self.lines]
        try:
            draft = DraftInput.model_validate({**self.header.cleaned_data, "line_items": lines})
        except ValidationError as error:
            for problem, code in find_problems(error):
                self._add(problem, code)
            return None
        return draft if is_readable else None

    def add_problems(self, problems: tuple[FieldProblem, ...]) -> None:
        """Mark what only the database could find."""
        for problem in problems:
            self._add(problem)

    def _add(self, problem: FieldProblem, code: str = "") -> None:
        match problem.field.split("."):
            case ["line_items", index, name]:
                _mark(self.lines[int(index)], name, problem, code)
            case ["line_items"]:
                self.errors.append(f"The lines {problem.problem}.")
            case [name]:
                _mark(self.header, name, problem, code)

    def show_readings(self, preview: DraftContent) -> None:
        """Say in each line how its numbers were understood."""
        document = preview.document
        formats = Formats(document.language, document.currency_code, document.minor_unit)
        for form, line in zip(self.lines, preview.lines, strict=True):
            form.reading = _describe_reading(line, formats)

    def find_mistakes(self) -> Iterator[Mistake]:
        """Yield the fields with errors, the header's first."""
        yield from (Mistake(str(each.label), each.id_for_label) for each in _marked(self.header))
        for number, line in enumerate(self.lines, start=1):
            for each in _marked(line):
                yield Mistake(f"Line {number}, {str(each.label).lower()}", each.id_for_label)


def _line_forms(
    typed: TypedDraft, choices: Choices, **values: Any
) -> "forms.BaseFormSet[LineForm]":
    of_each = {"choices": choices, "minor_unit": typed.minor_unit}
    return LineFormSet(prefix=LINES_PREFIX, form_kwargs=of_each, **values)


def _mark(form: forms.Form, name: str, problem: FieldProblem, code: str) -> None:
    """Add the problem to a field that could be read, in the form's own words if it has any."""
    if name not in form.errors:
        form.add_error(name, form.fields[name].error_messages.get(code) or _as_sentence(problem))


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
