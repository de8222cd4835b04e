"""What differs between the saved draft and the one that was typed."""

from collections.abc import Iterator

from invoicing.web.changes import Change
from invoicing.web.drafts.choices import Choices
from invoicing.web.drafts.forms import HeaderForm, LineForm
from invoicing.web.drafts.typed import Typed, TypedDraft


def compare_drafts(saved: TypedDraft, typed: TypedDraft, choices: Choices) -> Iterator[Change]:
    """Yield what differs, field by field, as the form shows it."""
    for name, field in HeaderForm.base_fields.items():
        yield from _compare(str(field.label), name, saved.header, typed.header, choices)
    for index in range(max(len(saved.lines), len(typed.lines))):
        for name, field in LineForm.base_fields.items():
            label = f"Line {index + 1}, {str(field.label).lower()}"
            yield from _compare(
                label, name, _line_at(saved, index), _line_at(typed, index), choices
            )


def _line_at(draft: TypedDraft, index: int) -> Typed:
    line = draft.lines[index] if index < len(draft.lines) else {}
    # The list of the form always chooses a kind of discount; without a discount it means nothing.
    return line if line.get("discount_value", "").strip() else {**line, "discount_type": ""}


def _compare(
    label: str, name: str, saved: Typed, typed: Typed, choices: Choices
) -> Iterator[Change]:
    before, after = saved.get(name, ""), typed.get(name, "")
    if before != after:
        yield Change(label, choices.label(name, before), choices.label(name, after))
