"""What nobody sees is named; what scripts and emoji need stays."""

import sys
import unicodedata

import pytest

from agent_access.visible_text import INVISIBLE, mark_invisible

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

# Format characters that are signs to be seen, in front of Arabic, Syriac, Kaithi and Egyptian.
SEEN_FORMATS = frozenset(
    {0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
    | set(range(0x0600, 0x0606))
    | set(range(0x13430, 0x13440))
)


def test_every_format_character_line_separator_and_control_character_is_named():
    unseen = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cf", "Cc", "Zl", "Zp"}
    }
    missed = {code for code in unseen if not INVISIBLE.match(chr(code))}
    # Each Python knows another version of Unicode.
    assert 0x0A in missed
    assert missed <= {0x0A, *SEEN_FORMATS}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay \u202e0001\u202c now", "pay [U+202E]0001[U+202C] now"),
        ("\u2066a\u2069", "[U+2066]a[U+2069]"),
        ("Ac\u200bme", "Ac[U+200B]me"),
        ("Ac\u200dme\u200c", "Ac[U+200D]me[U+200C]"),
        ("one\u2028two\u2029", "one[U+2028]two[U+2029]"),
        ("\ufeffAcme", "[U+FEFF]Acme"),
        ("Ac\xadme\u3164\u115f\u2800", "Ac[U+00AD]me[U+3164][U+115F][U+2800]"),
        ("x\ufe0f", "x[U+FE0F]"),
        ("\u2764\ufe0f\ufe01", "\u2764\ufe0f[U+FE01]"),
        ("\U000e0069\U000e0067", "[U+E0069][U+E0067]"),
        ("a\x1bb", "a[U+001B]b"),
    ],
)
def test_what_hides_is_named(text, shown):
    assert mark_invisible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Altmühl Brauerei GmbH\n2 × 3\xa0€",  # noqa: RUF001  the sign of multiplication
        "می\u200cکنم",
        "क्\u200dष",
        "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥",
        "邊\U000e0101",
        "مرحبا",
        "e\u0301",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text):
    assert mark_invisible(text) == text
