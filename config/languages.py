"""The languages of pages: English, in which they are written, and each that has a catalogue."""

from collections.abc import Iterator
from pathlib import Path

from babel import Locale
from django.utils.translation import to_language

SOURCE = "en"


def find_languages(folder: Path) -> list[tuple[str, str]]:
    """Return the code and the English name of each language with a compiled catalogue there.

    `folder` is laid out as Django reads it, `de/LC_MESSAGES/django.mo`. English comes first.
    """
    return [(code, _name_of(code)) for code in (SOURCE, *sorted(_find_codes(folder)))]


def _find_codes(folder: Path) -> Iterator[str]:
    for path in folder.glob("*/LC_MESSAGES/django.mo"):
        yield to_language(path.parts[-3])


def _name_of(code: str) -> str:
    return Locale.parse(code, sep="-").get_display_name(SOURCE) or code
