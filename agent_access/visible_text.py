"""Characters that make a text look like another one: invisible ones, and marks in heaps."""

import re
import unicodedata
from collections.abc import Callable, Iterator

_JOINERS = "\u200c\u200d"
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
# An emoji is made of four at most. However many are joined, no line breaks between them.
_MOST_JOINED = 8
_PICTURE = r"[\u2600-\u27bf\U0001f000-\U0001faff]"


def replace_invisible(text: str, write: Callable[[str], str]) -> str:
    """Return the text with every invisible character as `write` puts it, and marks in heaps too.

    Joiners and variation selectors stay where a script or an emoji needs them. A heap is more than
    MOST_MARKS marks on one letter, in Unicode's form NFC, or an endless emoji.
    """
    marks = "".join(filter(_is_mark, set(text)))
    if not marks:
        return _replace(INVISIBLE, text, write)
    mark = re.compile(f"[{marks}]")
    written, end = [], 0
    for heap in _find_heaps(text, mark):
        written.append(_replace(INVISIBLE, text[end : heap.start()], write))
        written.append(_replace(mark, heap[0], write))
        end = heap.end()
    return "".join([*written, _replace(INVISIBLE, text[end:], write)])


def _is_mark(character: str) -> bool:
    """Return whether it stands on the sign before it, or joins the next one to that."""
    return unicodedata.category(character) in {"Mn", "Me"} or character in _JOINERS


def _find_heaps(text: str, mark: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield what is in heaps, without the letter. `mark` is any mark in the text."""
    joined = rf"(?P<emoji>(?:{_PICTURE}{{1,2}}\ufe0f?\u200d){{{_MOST_JOINED},}})"
    # It begins with one set of characters, since that is fast to find.
    runs = re.compile(rf"{mark.pattern}(?:{mark.pattern}*(?<=\u200d){joined}|{mark.pattern}+)")
    for run in runs.finditer(text):
        # One more than NFC can take into the letter is enough, however many follow.
        end = min(run.end(), run.start() + MOST_MARKS + _MOST_COMPOSED + 1)
        composed = unicodedata.normalize("NFC", text[max(run.start() - 1, 0) : end])
        if run["emoji"] or sum(map(_is_mark, composed)) > MOST_MARKS:
            yield run


def _replace(pattern: re.Pattern[str], text: str, write: Callable[[str], str]) -> str:
    return pattern.sub(lambda found: write(found[0]), text)


def name_character(character: str) -> str:
    """Return the name by which standards call a character: U+202E."""
    return f"U+{ord(character):04X}"


def mark_invisible(text: str) -> str:
    """Return plain text in which each invisible character stands as its name: [U+202E]."""
    return replace_invisible(text, lambda character: f"[{name_character(character)}]")
