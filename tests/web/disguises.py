"""A text that hides a character and turns what stands beside it, and where it may stand."""

import re

HIDDEN = "\u202e"
EVIL = f"0001 <b> {HIDDEN}eman\u200b"


def without_typed_values(page: str) -> str:
    """Return the page without the texts that stand in fields, to be typed on."""
    return re.sub(r'value="[^"]*"|<textarea[^>]*>[^<]*</textarea>', "", page)
