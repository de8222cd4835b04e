"""The forms of a draft's header and the formset of its lines, handled as one."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from django import forms
from pydantic import BaseModel, ValidationError

from agent_access.fields import find_problems
from invoicing.draft_fields import DraftInput, PersonInput
from invoicing.errors import FieldProblem
from invoicing.models import Line
from invoicing.paper.formats import Formats
from invoicing.services.draft_content import DraftContent
from invoicing.web.drafts.choices import Choices
from invoicing.web.drafts.forms import LINES_PREFIX, HeaderForm, LineFormSet, PersonForm
from invoicing.web.drafts.problems import as_sentence, as_sentence_on_lines
from invoicing.web.drafts.typed import TypedDraft

_Input = TypeVar("_Input", bound=BaseModel)


class ReadDraft(NamedTuple):
    """A draft as a form asks for it."""

    asked: DraftInput
    by_person: PersonInput


class DraftForms:
    """The forms of the header and the lines, of `typed`; `errors` are those of no single field.

    They show the texts; only if `is_checked`, they check them.
    """

    def __init__(self, typed: TypedDraft, choices: Choices, *, is_checked: bool = False) -> None:
        options = choices.options
        self.typed = typed
        header = typed.header if is_checked else None
        self.header = HeaderForm(header, initial=typed.header, options=options)
        self.person = PersonForm(header, initial=typed.header, options=options)
        self.lines = LineFormSet(
            typed.data_of_lines() if is_checked else None,
            initial=typed.lines,
            prefix=LINES_PREFIX,
            form_kwargs={"options": options, "minor_unit": typed.minor_unit},
        )
        self.errors: list[str] = []

    def read(self) -> ReadDraft | None:
        """Return the draft, judged by the rules of the tools, or None and mark all mistakes."""
        is_readable = all([each.is_valid() for each in (self.header, self.person, self.lines)])  # noqa: C419  each marks its mistakes
        lines = [line.cleaned_data for line in self.lines]
        asked = self._judge(DraftInput, {**self.header.cleaned_data, "line_items": lines})
        by_person = self._judge(PersonInput, self.person.cleaned_data)
        return ReadDraft(asked, by_person) if is_readable and asked and by_person else None

    def _judge(self, kind: type[_Input], values: Mapping[str, Any]) -> _Input | None:
        try:
            return kind.model_validate(values)
        except ValidationError as error:
            for problem, code in find_problems(error):
                self._add(problem, code)
            return None

    def header_fields(self) -> Iterator[forms.BoundField]:
        """Yield all fields beside the lines."""
        yield from self.header
        yield from self.person

    def add_problems(self, problems: tuple[FieldProblem, ...]) -> None:
        """Mark what only the database could find."""
        for problem in problems:
            self._add(problem)

    def _add(self, problem: FieldProblem, code: str = "") -> None:
        match problem.field.split("."):
            case ["line_items", index, name]:
                _mark(self.lines[int(index)], name, problem, code)
            case ["line_items"]:
                self.errors.append(as_sentence_on_lines(problem))
            case [name]:
                form = self.header if name in self.header.fields else self.person
                _mark(form, name, problem, code)

    def show_readings(self, preview: DraftContent) -> None:
        """Say in each line how its numbers were understood, and what they come to."""
        document = preview.document
        formats = Formats(document.language, document.currency_code, document.minor_unit)
        for form, line in zip(self.lines, preview.lines, strict=True):
            form.reading = _describe_reading(line, formats)
            form.amount = formats.amount(line.net_amount)


def _mark(form: forms.Form, name: str, problem: FieldProblem, code: str) -> None:
    """Add the problem to a field that could be read, in the form's own words if it has any."""
    if name not in form.errors:
        form.add_error(name, form.fields[name].error_messages.get(code) or as_sentence(problem))


def _describe_reading(line: Line, formats: Formats) -> str:
    """Return what a line was calculated from: quantity, price and discount, and the amount."""
    factors = formats.quantity(line.quantity), formats.money(line.unit_price)
    gross = " \N{MULTIPLICATION SIGN} ".join(factors)
    discount = f" \N{MINUS SIGN} {formats.money(line.discount_amount)}"
    return f"{gross}{discount if line.discount_amount else ''} = {formats.money(line.net_amount)}"
