"""Texts that pages show in the language of who reads them, and programs as they were written."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, override

# A text, or what gettext_lazy makes of one: it is translated where a page shows it.
Text = str | Promise


def as_written(text: Text) -> str:
    """Return the text as the source has it, which is what programs read in every language."""
    with override(None):
        return str(text)


class SentenceError(Exception):
    """An error whose message is a sentence, marked by gettext_noop; `values` fill its placeholders.

    One with a plural is marked by ngettext_lazy. Commands and logs have it in English, as `str`
    does, and pages as `told` does.
    """

    def __init__(self, sentence: Text, **values: Any) -> None:
        with override(None):
            super().__init__(_fill(sentence, values))
        self.sentence: Any = sentence
        self.values = values

    def told(self) -> str:
        """Return the sentence in the language of the page."""
        is_lazy = isinstance(self.sentence, Promise)
        return _fill(self.sentence if is_lazy else gettext(str(self.sentence)), self.values)


def _fill(sentence: Any, values: Mapping[str, Any]) -> str:
    # A lazy sentence chooses its plural as it is filled.
    filled: str = sentence % values
    return filled
