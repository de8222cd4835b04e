"""The fields of a draft, as they are declared: a new one is tried without being named."""

from invoicing import draft_fields
from invoicing.draft_fields import DraftInput, LineItemInput

HEADER = DraftInput.model_fields
LINE = LineItemInput.model_fields

# Those that take a text freely; a code is chosen from a list.
HEADER_TEXTS = draft_fields.DRAFT_TEXTS
LINE_TEXTS = ("description", *draft_fields.LINE_TEXTS)
