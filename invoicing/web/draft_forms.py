"""The form in which a person writes a draft: a header and its lines."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django import forms
from typing_extensions import override

from invoicing.draft_rules import MAX_LINES
from invoicing.errors import FieldProblem
from invoicing.fixed_point import DECIMALS
from invoicing.services.draft_input import DraftInput, LineInput
from invoicing.text import DESCRIPTION_LENGTH, NOTES_LENGTH, REFERENCE_LENGTH, UNIT_LENGTH
from invoicing.totals import DiscountType
from invoicing.web.draft_choices import Choices
from invoicing.web.typed_numbers import MistypedNumberError, parse_typed

NUMBER_LENGTH = 30
PERCENT_DECIMALS = 2

Typed = Mapping[str, str]


def _number(label: str, *, required: bool = True) -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.CharField(label=label, required=required, max_length=NUMBER_LENGTH, widget=widget)


def _text(label: str, longest: int, *, rows: int = 0, required: bool = False) -> forms.CharField:
    # Only the browser is told the length: the service counts a line end once, as people do.
    attrs = {"maxlength": str(longest), "dir": "auto"}
    widget = forms.Textarea(attrs={**attrs, "rows": rows}) if rows else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, required=required, strip=False, widget=widget)


def _date(label: str) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(label=label, widget=widget, input_formats=["%Y-%m-%d"])


class HeaderForm(forms.Form):
    """What a draft says once: the fields of DraftInput beside its lines."""

    customer_id = forms.TypedChoiceField(label="Customer", coerce=UUID)
    issue_date = _date("Issue date")
    due_date = _date("Due date")
    currency_code = forms.ChoiceField(label="Currency")
    language = forms.ChoiceField(label="Language")
    reference = _text("Reference", REFERENCE_LENGTH)
    notes = _text("Notes on the invoice", NOTES_LENGTH, rows=3)

    def __init__(self, *args: Any, choices: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, options in choices.of_header.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]  # a ChoiceField


class LineForm(forms.Form):
    """The fields of LineInput; amounts are typed in the currency, and kept as its minor units."""

    description = _text("Description", DESCRIPTION_LENGTH, rows=2, required=True)
    quantity = _number("Quantity")
    unit = _text("Unit", UNIT_LENGTH)
    unit_price = _number("Unit price")
    discount_value = _number("Discount", required=False)
    discount_type = forms.TypedChoiceField(
        label="Discount in", required=False, coerce=DiscountType, empty_value=None
    )
    tax_rate_id = forms.TypedChoiceField(label="Tax", required=False, coerce=UUID, empty_value=None)

    def __init__(self, *args: Any, choices: Choices, minor_unit: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.minor_unit = minor_unit
        for name, options in choices.of_line.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]  # a ChoiceField

    @override
    def clean(self) -> None:
        self._parse("quantity", decimals=DECIMALS)
        self._parse("unit_price", decimals=self.minor_unit)
        is_percent = self.cleaned_data.get("discount_type") == DiscountType.PERCENT
        self._parse("discount_value", decimals=PERCENT_DECIMALS if is_percent else self.minor_unit)
        if self.cleaned_data.get("discount_value") is None:
            # The list always shows a kind; without a value it says nothing.
            self.cleaned_data["discount_type"] = None

    def _parse(self, name: str, *, decimals: int) -> None:
        text = self.cleaned_data.get(name)
        try:
            self.cleaned_data[name] = parse_typed(text, decimals=decimals) if text else None
        except MistypedNumberError as mistake:
            self.add_error(name, str(mistake))


@dataclass(frozen=True)
class TypedDraft:
    """The texts of all fields, as typed or as a saved draft would be typed."""

    header: Typed
    lines: list[Typed]
    minor_unit: int

    def with_customer(self, customer_id: str) -> "TypedDraft":
        return TypedDraft({**self.header, "customer_id": customer_id}, self.lines, self.minor_unit)

    def with_line(self) -> "TypedDraft":
        lines = [*self.lines, {}] if len(self.lines) < MAX_LINES else self.lines
        return TypedDraft(self.header, lines, self.minor_unit)

    def without_line(self, index: int) -> "TypedDraft":
        lines = [line for position, line in enumerate(self.lines) if position != index]
        return TypedDraft(self.header, lines or [{}], self.minor_unit)


@dataclass(frozen=True)
class Mistake:
    """A field that is to be mended, by its name on the page and the ID of its input."""

    label: str
    field_id: str


@dataclass
class DraftForms:
    """The header and the lines together."""

    header: HeaderForm
    lines: list[LineForm]
    errors: list[str] = field(default_factory=list)

    @classmethod
    def showing(cls, typed: TypedDraft, choices: Choices) -> "DraftForms":
        """Return forms that show the texts and find no fault yet."""
        lines = [_line_form(typed, i, choices, initial=line) for i, line in enumerate(typed.lines)]
        return cls(HeaderForm(initial=typed.header, choices=choices), lines)

    @classmethod
    def checking(cls, typed: TypedDraft, choices: Choices) -> "DraftForms":
        """Return forms that check the texts."""
        lines = [
            _line_form(
                typed, i, choices, data={f"line-{i}-{name}": text for name, text in line.items()}
            )
            for i, line in enumerate(typed.lines)
        ]
        return cls(HeaderForm(typed.header, choices=choices), lines)

    def is_valid(self) -> bool:
        # Every form is asked, so that a person sees all mistakes at once.
        answers = [form.is_valid() for form in (self.header, *self.lines)]
        return all(answers)

    def find_mistakes(self) -> Iterator[Mistake]:
        """Yield the fields that are marked, the header's first."""
        yield from (Mistake(str(each.label), each.id_for_label) for each in _marked(self.header))
        for number, line in enumerate(self.lines, start=1):
            for each in _marked(line):
                yield Mistake(f"Line {number}, {str(each.label).lower()}", each.id_for_label)

    def read(self) -> DraftInput:
        """Return the draft of valid forms."""
        line_items = tuple(LineInput(**line.cleaned_data) for line in self.lines)
        return DraftInput(**self.header.cleaned_data, line_items=line_items)

    def add_problems(self, problems: Iterable[FieldProblem]) -> None:
        """Put what the service found wrong beside the fields that it names."""
        for problem in problems:
            match problem.path.split("."):
                case ["line_items", index, name]:
                    self.lines[int(index)].add_error(name, _as_sentence(problem))
                case ["line_items"]:
                    self.errors.append(f"The lines {problem.problem}.")
                case [name]:
                    self.header.add_error(name, _as_sentence(problem))


def _marked(form: forms.Form) -> Iterator[forms.BoundField]:
    return (each for each in form if each.errors)


def _as_sentence(problem: FieldProblem) -> str:
    """Return a problem, which reads on from a field's name, as it stands beside the field."""
    return f"{problem.problem[0].upper()}{problem.problem[1:]}."


def _line_form(typed: TypedDraft, index: int, choices: Choices, **values: Any) -> LineForm:
    return LineForm(prefix=f"line-{index}", choices=choices, minor_unit=typed.minor_unit, **values)
