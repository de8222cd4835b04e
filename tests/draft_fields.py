"""The fields of a draft, as the service takes them: a new one is tried without being named."""

from dataclasses import fields

from invoicing.services.draft_input import DraftInput, LineInput

HEADER = {each.name: each.type for each in fields(DraftInput)}
LINE = LineInput.__annotations__

# Those that take a text freely; a code is chosen from a list.
HEADER_TEXTS = tuple(name for name in HEADER if HEADER[name] is str and name != "currency_code")
LINE_TEXTS = tuple(name for name in LINE if LINE[name] is str)
# The texts that may have several lines.
MULTILINE = ("notes", "description")
