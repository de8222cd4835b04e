import unicodedata

import pytest

from agent_access.texts import ControlCharacterError, normalise_text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("  plain  ", "plain"),
        ("one\r\ntwo\rthree\nfour", "one\ntwo\nthree\nfour"),
        ("a\tb", "a b"),
        ("\t\r\n", ""),
        ("zwölf 日本 👩\u200d🚀", "zwölf 日本 👩\u200d🚀"),
        ("no\u00a0break", "no\u00a0break"),
        ("\u200bseen\u2060", "\u200bseen\u2060"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("\u200b", ""),
        (" \ufeff\n\u2060 \u3000\u2800 ", ""),
        ("\u200d\ufe0f\U000e0067", ""),
        ("\u202e\xad\u3164", ""),
    ],
)
def test_line_ends_tabs_and_edges_are_made_alike(value, expected) -> None:
    assert normalise_text(value, multiline=True) == expected
    assert normalise_text(expected, multiline=True) == expected


def is_refused(character: str) -> bool:
    try:
        normalise_text(f"a{character}b", multiline=True)
    except ControlCharacterError:
        return True
    return False


def test_what_is_refused_is_what_unicode_calls_a_control_or_a_surrogate() -> None:
    """But for a line feed, a tab and a carriage return, which are mended."""
    for character in map(chr, range(0x10000)):
        is_bad = unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\t\r"
        assert is_refused(character) is is_bad
