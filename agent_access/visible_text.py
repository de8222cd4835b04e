"""Characters that make a text look like another one: invisible ones, and marks in heaps."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

_JOINERS = r"\u200c\u200d"
_VARIANTS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Unicode's default ignorable characters other than these.
_IGNORABLE = (
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# With control characters but the line feed, line separators, the blank of Braille, and what
# encloses annotations between the lines: all of these part words.
_UNSEEN = rf"{_IGNORABLE}\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u2800\ufff9-\ufffb"

# Letters that joiners join: Arabic to Mongolian, and the pictures of emoji.
_JOINED = r"\u0600-\u115e\u1200-\u18ff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff"
# What one variation selector may follow: any sign outside ASCII that is to be seen itself.
_VARIED = rf"[^\x00-\x7f{_UNSEEN}{_JOINERS}{_VARIANTS}]"

INVISIBLE = re.compile(
    rf"[{_UNSEEN}]"
    rf"|(?<![{_JOINED}])[{_JOINERS}]"
    rf"|[{_JOINERS}](?![{_JOINED}])"
    rf"|(?<!{_VARIED})[{_VARIANTS}]"
)

# Those that Unicode's NFKC_Casefold drops within a word.
IGNORABLE = re.compile(rf"[{_IGNORABLE}{_JOINERS}{_VARIANTS}]")

# The same regardless of context: even where a script or an emoji needs them.
HIDDEN = re.compile(rf"[{_UNSEEN}{_JOINERS}{_VARIANTS}]")

# Vietnamese, Thai and Arabic need up to three marks on one letter, Hebrew and Tibetan four.
MOST_MARKS = 4
# No letter has more of them within itself, in Unicode's form NFC.
_MOST_COMPOSED = 3
# Unicode's combining class of what joins letters of India to one sign.
_VIRAMA = 9
_JAMO = {
    "L": re.compile(r"[\u1100-\u115f\ua960-\ua97c]"),
    "V": re.compile(r"[\u1160-\u11a7\ud7b0-\ud7c6]"),
    "T": re.compile(r"[\u11a8-\u11ff\ud7cb-\ud7fb]"),
}
# Of kinds of characters: too many marks, perhaps, or a sign without end, in which no line breaks.
_HEAP = re.compile(
    r"(?P<endless>[MJ]*J(?:[^ J]{1,3}J+){8,}|S{5,}|(?:M*S){8,}M*|P{5,}|L{5,}|V{5,}|T{5,})|[MJ]{2,}"
)


def replace_invisible(text: str, write: Callable[[str], str]) -> str:
    """Return the text with every invisible character as `write` puts it, and marks in heaps too.

    Joiners and variation selectors stay where a script or an emoji needs them. A heap is more than
    MOST_MARKS marks on one letter, in Unicode's form NFC, or a sign joined of dozens.
    """
    written, end = [], 0
    for heap in () if text.isascii() else _find_heaps(text):
        written.append(_replace_unseen(text[end : heap.start()], write))
        end = heap.end()
        written += (
            character if kind in ". " else write(character)
            for character, kind in zip(text[heap.start() : end], heap[0], strict=True)
        )
    return "".join([*written, _replace_unseen(text[end:], write)])


def _replace_unseen(text: str, write: Callable[[str], str]) -> str:
    return INVISIBLE.sub(lambda found: write(found[0]), text)


def _find_heaps(text: str) -> Iterator[re.Match[str]]:
    """Yield where the text has heaps, without the letter, with the kinds of their characters."""
    kinds = text.translate({ord(each): _kind(each) for each in set(text)})
    for heap in _HEAP.finditer(kinds):
        # One more than a letter can take in is enough, however many follow.
        end = min(heap.end(), heap.start() + MOST_MARKS + _MOST_COMPOSED + 1)
        composed = unicodedata.normalize("NFC", text[max(heap.start() - 1, 0) : end])
        if heap["endless"] or sum(_kind(each) in "MJ" for each in composed) > MOST_MARKS:
            yield heap


@lru_cache(maxsize=2000)
def _kind(character: str) -> str:
    """Return M for a mark on the sign before it, J for what joins the next one to that.

    S is a mark with room of its own, P what stands below the next signs; L, V and T are letters of
    a syllable in Korean.
    """
    category = unicodedata.category(character)
    if character == "\u200d" or unicodedata.combining(character) == _VIRAMA:
        return "J"
    if category in {"Mn", "Me"} or character == "\u200c":
        return "M"
    if category == "Mc" or character in "\u0e33\u0eb3":
        return "S"
    if category == "Cf":
        return "P"
    jamo = (kind for kind, letters in _JAMO.items() if letters.match(character))
    return next(jamo, " " if character.isspace() else ".")


def name_character(character: str) -> str:
    """Return the name by which standards call a character: U+202E."""
    return f"U+{ord(character):04X}"


def mark_invisible(text: str) -> str:
    """Return plain text in which each invisible character stands as its name: [U+202E]."""
    return replace_invisible(text, lambda character: f"[{name_character(character)}]")
