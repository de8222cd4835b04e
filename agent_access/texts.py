"""The one form in which text is kept: line feeds, no tabs, no control characters, trimmed."""

import re

from agent_access.visible_text import HIDDEN

# Unicode's categories Cc and Cs, except for the line feed.
_CONTROL_OR_SURROGATE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class ControlCharacterError(ValueError):
    """The text holds a control character, or a line break where one line is allowed."""


def normalise_text(value: str, *, multiline: bool) -> str:
    """Return the text with line feeds for line ends and spaces for tabs, trimmed.

    A text of nothing but invisible characters is empty.
    Raises ControlCharacterError for control characters and lone surrogates; a line feed is
    allowed only where the text may have several lines.
    """
    text = value.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    # Before trimming, since strip() takes some control characters for white space.
    if _CONTROL_OR_SURROGATE.search(text):
        raise ControlCharacterError
    text = text.strip()
    if "\n" in text and not multiline:
        raise ControlCharacterError
    return text if HIDDEN.sub("", text).strip() else ""
