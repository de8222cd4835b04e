"""Splits texts into words and their prefixes, regardless of case, accents and script."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from agent_access.visible_text import IGNORABLE

# The longest prefix of a word in the word table; what a search has beyond that is compared with the
# record only.
PREFIX_LENGTH = 16
# In scripts without spaces: n-grams of 1 to 3 characters instead of prefixes.
NGRAM_LENGTH = 3

# Letters with a stroke, or without a dot, which Unicode does not decompose into a plain letter.
_STROKES = dict(zip("øđłħŧı", "odlhti", strict=True))

_ASCII_WORD = re.compile(r"[a-z0-9]+")

# Scripts written without spaces between words.
_UNSPACED_SIGNS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf"  # Tai Le, New Tai Lue, Tai Tham
    "\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # rarer Kana and Han
)
_UNSPACED = re.compile(f"[{_UNSPACED_SIGNS}]")
# What stands between gaps, in one kind of script.
_RUN = re.compile(f"[{_UNSPACED_SIGNS}]+|[^{_UNSPACED_SIGNS} ]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, accents and unseen characters.

    In a script without spaces between words, a whole phrase is one word; see matches().
    """
    folded = _fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    runs = _RUN.findall(_replace(folded, lambda each: not _is_of_a_word(each), " "))
    # A combining mark without its letter is no word.
    return [run for run in runs if run.isalnum() or any(map(str.isalnum, run))]


def matches(search_words: Sequence[str], texts: Iterable[str]) -> bool:
    """Tell whether every word of the search is a prefix of a word of the texts.

    In scripts without spaces it may stand anywhere in the phrase. No search words match nothing.
    """
    words = [word for text in texts for word in words_of(text)]
    return bool(search_words) and all(
        any(_begins(sought, word) for word in words) for sought in search_words
    )


def prefixes_of(texts: Iterable[str]) -> set[str]:
    """Return the prefixes (n-grams in scripts without spaces) to store for these texts."""
    return set().union(*(_prefixes_of_text(text) for text in texts))


def required_prefixes(search_words: Iterable[str]) -> set[str]:
    """Return the prefixes to look up: all matching records have all of them, few others do."""
    needed = {part for sought in search_words for part in _required_parts(sought)}
    # "in" adds nothing where "inv" is needed.
    return {one for one in needed if not any(o.startswith(one) for o in needed if o != one)}


@lru_cache(maxsize=100)
def _prefixes_of_text(text: str) -> frozenset[str]:
    """Return the prefixes of one text; cached, since documents share their customer's name.

    Only a few: the prefixes of a long reference take 30 kB, and every reference comes here.
    """
    return frozenset(each for word in words_of(text) for each in _prefixes_of_word(word))


def _prefixes_of_word(word: str) -> Iterable[str]:
    if not _UNSPACED.match(word):
        return (word[:end] for end in range(1, min(len(word), PREFIX_LENGTH) + 1))
    lengths = range(1, NGRAM_LENGTH + 1)
    return (word[start : start + length] for start in range(len(word)) for length in lengths)


def _required_parts(sought: str) -> Iterable[str]:
    if not _UNSPACED.match(sought):
        return [sought[:PREFIX_LENGTH]]
    starts = range(max(len(sought) - NGRAM_LENGTH, 0) + 1)
    return (sought[start : start + NGRAM_LENGTH] for start in starts)


def _begins(sought: str, word: str) -> bool:
    # The script last: hardly any word holds what is sought.
    return word.startswith(sought) or (sought in word and bool(_UNSPACED.match(word)))


def _fold(text: str) -> str:
    """Return the text without case, accents and unseen characters; Korean syllables stay whole."""
    if text.isascii():
        return text.lower()
    # Ordinary names come with joiners, soft hyphens and variation selectors.
    seen = IGNORABLE.sub("", text)
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", seen).casefold())
    plain = _replace(parts, _is_accent, "")
    for letter, plain_letter in _STROKES.items():
        plain = plain.replace(letter, plain_letter)
    return unicodedata.normalize("NFC", plain)


def _replace(text: str, is_replaced: Callable[[str], bool], new: str) -> str:
    """Return the text with another one for each character of a kind.

    Looks at each character once, however often it occurs: NFKD makes 18 of some, so that a short
    text can become a long one.
    """
    for each in filter(is_replaced, set(text)):
        text = text.replace(each, new)
    return text


def _is_accent(character: str) -> bool:
    """Tell whether a mark can be dropped without making another word of it.

    Of Unicode's combining classes, 10 to 36 are the points of Hebrew, Arabic and Syriac, and
    those from 200 on the accents; kana voicing, Indic and Thai signs lie outside.
    """
    combining_class = unicodedata.combining(character)
    return 10 <= combining_class <= 36 or combining_class >= 200  # noqa: PLR2004 (named above)


def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
