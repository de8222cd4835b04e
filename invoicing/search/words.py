"""The words by which a text is found, those that a search looks for, and how both are compared.

A record contributes each of its words in every form that people may look for, and a search looks
for one form of each: "O'Brien" is found as obrien and as brien, "0085" also as 85.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from invoicing.search.folding import PUNCTUATION, SPACE, spellings_of

# The longest prefix of a word in the word table; what a search has beyond that is compared with the
# record only.
PREFIX_LENGTH = 16
# In scripts without spaces: n-grams of 1 to 3 characters instead of prefixes.
NGRAM_LENGTH = 3
# From how many of the words between two spaces on these are joined, lest "a-b-c-d-..." has a form
# for each of a hundred letters.
_JOINED_FROM = 4

# Scripts written without spaces between words, and Korean, whose words are often written together.
_UNSPACED_SIGNS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf"  # Tai Le, New Tai Lue, Tai Tham
    "\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # rarer Kana and Han
)
_UNSPACED = re.compile(f"[{_UNSPACED_SIGNS}]")
# What stands between gaps, in one kind of script.
_RUN = re.compile(f"[{_UNSPACED_SIGNS}]+|[^{_UNSPACED_SIGNS}{SPACE}{PUNCTUATION}]+")
# "PO 4711" is found as PO-4711 is.
_BEFORE_NUMBER = re.compile(rf"{SPACE}(?<=[^\W\d]{SPACE})(?=[0-9])")

# Words of which one must begin a word of the record.
AnyOf = frozenset[str]


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order, without case, accents and unseen characters."""
    plain, *_ = spellings_of(text)
    return [word for group in _groups_of(plain) for word in group]


def sought_in(search: str) -> list[AnyOf]:
    """Return what a search looks for: for each of its words, those of which one is enough.

    A word within punctuation may be found by itself, or all that stands together as one word: thus
    "Coca-Cola" finds Coca Cola and CocaCola.
    """
    found: list[AnyOf] = []
    for spellings in zip(*map(_groups_of, spellings_of(search)), strict=True):
        joined = {"".join(words) for words in spellings if not _is_unspaced(words[0])}
        found += [frozenset({*words, *joined}) for words in zip(*spellings, strict=True)]
    return found


@lru_cache(maxsize=500)
def forms_of(text: str) -> frozenset[str]:
    """Return the words by which a text is found, in each of their forms.

    In a script without spaces between words, a whole phrase is one word; see matches(). Cached,
    since documents share their customer's name.
    """
    forms: set[str] = set()
    for spelling in spellings_of(text):
        for words in _groups_of(spelling):
            forms.update(words)
            forms.update(word.lstrip("0") for word in words if word.isdecimal())
            if len(words) > 1:
                forms.update("".join(words[place:]) for place in range(_JOINED_FROM))
    return frozenset(filter(None, forms))


def matches(sought: Sequence[AnyOf], texts: Iterable[str]) -> bool:
    """Return whether the texts have for every word of the search a word that begins with it.

    In scripts without spaces it may stand anywhere in the phrase. No search words match nothing.
    """
    missing = list(sought)
    if not missing:
        return False
    for text in texts:
        forms = forms_of(text)
        missing = [words for words in missing if not _is_found(words, forms)]
        if not missing:
            return True
    return False


def prefixes_of(texts: Iterable[str]) -> set[str]:
    """Return the prefixes (n-grams in scripts without spaces) to store for these texts."""
    return set().union(*(_prefixes_of_text(text) for text in texts))


def required_prefixes(sought: Iterable[AnyOf]) -> set[AnyOf]:
    """Return the prefixes to look up: all matching records have one of each, few others do."""
    needed = {part for words in sought for part in _required_parts(words)}
    # "in" adds nothing where "inv" is needed.
    return {one for one in needed if not any(_implies(other, one) for other in needed - {one})}


def _groups_of(folded: str) -> Iterator[list[str]]:
    """Yield the words that stand together without a space, those of one kind of script each."""
    for chunk in _BEFORE_NUMBER.sub(PUNCTUATION, folded).split(SPACE):
        if chunk.isascii():
            if words := [word for word in chunk.split(PUNCTUATION) if word]:
                yield words
            continue
        # A combining mark without its letter is no word.
        runs = (run for run in _RUN.findall(chunk) if any(map(str.isalnum, run)))
        for _, group in groupby(runs, key=_is_unspaced):
            yield list(group)


@lru_cache(maxsize=100)
def _prefixes_of_text(text: str) -> frozenset[str]:
    """Return the prefixes of one text; cached as forms_of() is.

    Only a few: the prefixes of a long reference take 30 kB, and every reference comes here.
    """
    return frozenset(each for form in forms_of(text) for each in _prefixes_of_form(form))


def _prefixes_of_form(form: str) -> Iterable[str]:
    if not _is_unspaced(form):
        return (form[:end] for end in range(1, min(len(form), PREFIX_LENGTH) + 1))
    lengths = range(1, NGRAM_LENGTH + 1)
    return (form[start : start + length] for start in range(len(form)) for length in lengths)


def _required_parts(words: AnyOf) -> Iterable[AnyOf]:
    first, *others = words
    if others or not _is_unspaced(first):
        prefixes = {word[:PREFIX_LENGTH] for word in words}
        # What begins with "coca" may also begin with "cocacola".
        return [frozenset(one for one in prefixes if not one.startswith(tuple(prefixes - {one})))]
    starts = range(max(len(first) - NGRAM_LENGTH, 0) + 1)
    return (frozenset({first[start : start + NGRAM_LENGTH]}) for start in starts)


def _implies(narrow: AnyOf, wide: AnyOf) -> bool:
    """Return whether what has one prefix of `narrow` has one of `wide`."""
    return all(one.startswith(tuple(wide)) for one in narrow)


def _is_found(words: AnyOf, forms: Iterable[str]) -> bool:
    return any(_begins(word, form) for word in words for form in forms)


def _begins(sought: str, word: str) -> bool:
    # The script last: hardly any word holds what is sought.
    return word.startswith(sought) or (sought in word and _is_unspaced(word))


def _is_unspaced(word: str) -> bool:
    return bool(_UNSPACED.match(word))
