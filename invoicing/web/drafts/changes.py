"""What differs between the saved draft and the one that was typed."""

from django.utils.translation import gettext as _

from invoicing.web.changes import Change, differ
from invoicing.web.drafts.choices import Choices
from invoicing.web.drafts.forms import HEADER_FIELDS, LineForm
from invoicing.web.drafts.typed import TypedDraft


def compare_drafts(saved: TypedDraft, typed: TypedDraft, choices: Choices) -> list[Change]:
    """Return what differs, field by field, as the form shows it."""
    return [
        Change(label, choices.label(name, before), choices.label(name, after))
        for (label, name), before, after in differ(_texts(saved), _texts(typed))
    ]


def _texts(draft: TypedDraft) -> dict[tuple[str, str], str]:
    """Return the texts of all fields by their labels and names."""
    header = draft.header
    # The form always chooses a base of the rate; without a rate it means nothing.
    if not header.get("exchange_rate", "").strip():
        header = {**header, "exchange_rate_base": ""}
    texts = {
        (str(field.label), name): header.get(name, "") for name, field in HEADER_FIELDS.items()
    }
    for number, line in enumerate(draft.lines, start=1):
        # The form always chooses a kind of discount; without a discount it means nothing.
        said = line if line.get("discount_value", "").strip() else {**line, "discount_type": ""}
        for name, field in LineForm.base_fields.items():
            label = _("Line %(number)s: %(field)s") % {"number": number, "field": field.label}
            texts[label, name] = said.get(name, "")
    return texts
