"""Writes a text without what people leave out or write otherwise when they search for it.

Texts of records and of searches are folded here and nowhere else, so that they meet.
"""

import re
import unicodedata
from functools import lru_cache

from agent_access.visible_text import IGNORABLE

# What a folded text holds besides letters, their signs and digits.
SPACE = " "
PUNCTUATION = "-"

# As German and Danish write these where the letters are missing; a and o are what others write.
_SPELLED_OUT = {
    "a\u0308": "ae",
    "o\u0308": "oe",
    "u\u0308": "ue",
    "ø": "oe",
    "a\u030a": "aa",
}

# Letters that Unicode neither decomposes nor calls a plain letter WITH something.
_PLAIN = {
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ð": "d",
    "ŋ": "n",
    "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    "ȷ": "j",
    "ĸ": "k",
    "ə": "e",
    "ǝ": "e",
    "ɛ": "e",
    "ɔ": "o",
    "ɵ": "o",
    "ʉ": "u",
    # Arabic: what lengthens a line, and letters that are written for one another.
    "\u0640": "",
    "\u0629": "\u0647",  # ta marbuta, ha
    "\u0649": "\u064a",  # alef maksura, ya
    "\u06cc": "\u064a",  # Persian ya
    "\u06a9": "\u0643",  # Persian kaf
}
_WITH = re.compile(r"((?:LATIN|CYRILLIC) SMALL LETTER \w+) WITH .*")
# Letters for Unicode, apostrophes for those who write Hawai'i and Sa'di with them.
_APOSTROPHES = re.compile("[\u02b9-\u02c1\ua78b\ua78c]")
_KATAKANA = re.compile("[\u30a1-\u30f6\u30fd\u30fe]")
_HIRAGANA_FROM_KATAKANA = -0x60


def spellings_of(text: str) -> list[str]:
    """Return the folded text; if it has umlauts, without them and with them written as "ue".

    All spellings have the same words in the same order, and a word is a run of what is neither
    SPACE nor PUNCTUATION.
    """
    if text.isascii():
        return [text.lower().translate(_ASCII)]
    # Ordinary names come with joiners, soft hyphens and variation selectors.
    seen = IGNORABLE.sub("", text)
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", seen).casefold())
    spelled_out = parts
    for letter, letters in _SPELLED_OUT.items():
        spelled_out = spelled_out.replace(letter, letters)
    return [_write_plainly(each) for each in dict.fromkeys((parts, spelled_out))]


def _write_plainly(parts: str) -> str:
    """Return the decomposed text in plain letters; Korean syllables become whole again.

    Looks at each character once, however often it occurs: NFKD makes 18 of some, so that a short
    text can become a long one.
    """
    plain = parts.translate({ord(each): _plain(each) for each in set(parts)})
    return unicodedata.normalize("NFC", plain)


@lru_cache(maxsize=2000)
def _plain(character: str) -> str:
    """Return what stands for a character of a decomposed text in lower case."""
    if character in _PLAIN:
        return _PLAIN[character]
    if _is_accent(character):
        return ""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if _KATAKANA.match(character):
        return chr(ord(character) + _HIRAGANA_FROM_KATAKANA)
    if _is_of_a_word(character) and not _APOSTROPHES.match(character):
        return _without_stroke(character)
    return SPACE if _parts_texts(character) else PUNCTUATION


def _without_stroke(character: str) -> str:
    """Return the letter without the stroke, hook or other sign that Unicode names with it."""
    named = _WITH.fullmatch(unicodedata.name(character, ""))
    try:
        return _plain(unicodedata.lookup(named[1])) if named else character
    except KeyError:  # as of LAMBDA WITH STROKE, a letter that there is in Greek only
        return character


def _is_accent(character: str) -> bool:
    """Return whether a mark can be dropped without making another word of it.

    Of Unicode's combining classes, 10 to 36 are the points of Hebrew, Arabic and Syriac, and
    those from 200 on the accents; kana voicing, Indic and Thai signs lie outside.
    """
    combining_class = unicodedata.combining(character)
    return 10 <= combining_class <= 36 or combining_class >= 200  # noqa: PLR2004 (named above)


def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _parts_texts(character: str) -> bool:
    """Return whether it is a space, or a control character and the like."""
    return character.isspace() or unicodedata.category(character).startswith(("C", "Z"))


_ASCII = {code: _plain(chr(code)) for code in range(128)}
