"""A language for tests of layout, whose texts are the English ones, each word 40 % longer."""

import math
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages import Catalog
from babel.messages.mofile import write_mo

from invoicing.models import User
from tests.translations import PARTS, extract_messages

# Any language without a catalogue of ours; numbers and dates are written in it.
LANGUAGE = "nl"
GROWTH = 0.4
# Placeholders, markup and entities stay as they are.
KEPT = re.compile(r"(%\(\w+\)[sd]|%%|%[sd]|\{[^}]*\}|<[^>]*>|&\w+;)")
WORD = re.compile(r"[^\W\d_]+")


def stretch(text: str) -> str:
    """Return the text with longer words, as German ones are: "Issued" becomes "IssuedIss"."""
    pieces = KEPT.split(text)
    return "".join(
        piece if index % 2 else WORD.sub(_stretch_word, piece) for index, piece in enumerate(pieces)
    )


def _stretch_word(match: re.Match[str]) -> str:
    word = match[0]
    return word + word[: math.ceil(len(word) * GROWTH)]


def write_catalogue(folder: Path) -> None:
    """Write the compiled catalogue of all our texts where Django finds it, below LOCALE_PATHS."""
    catalog = Catalog(locale=LANGUAGE)
    for message in (each for part in PARTS for each in extract_messages(part) if each.id):
        text: Any = message.id
        string = tuple(map(stretch, text)) if isinstance(text, tuple) else stretch(text)
        catalog.add(text, string=string, context=message.context)
    compiled = BytesIO()
    write_mo(compiled, catalog)
    path = folder / LANGUAGE / "LC_MESSAGES" / "django.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(compiled.getvalue())


def offer(settings: Any, folder: Path) -> None:
    """Offer the language to people, until the settings are restored."""
    write_catalogue(folder)
    settings.LOCALE_PATHS = [folder]
    settings.LANGUAGES = [*settings.LANGUAGES, (LANGUAGE, "Stretched")]


def speak(person: User, language: str = LANGUAGE) -> User:
    """Choose the language for the person."""
    User.objects.filter(pk=person.pk).update(language=language)
    return person
