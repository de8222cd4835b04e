"""What nobody sees and what piles up is named; what scripts and emoji need stays."""

import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_access.templatetags.texts import isolate
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
        ("Z\u0310\u0311\u0312\u0313\u0314a", "Z[U+0310][U+0311][U+0312][U+0313][U+0314]a"),
        ("\u0e01" + 5 * "\u0e47", "\u0e01" + 5 * "[U+0E47]"),
        ("1" + 5 * "\u20dd", "1" + 5 * "[U+20DD]"),
        (5 * "\u0334" + "a", 5 * "[U+0334]" + "a"),
        ("e" + 8 * "\u0301", "e" + 8 * "[U+0301]"),
        # Joiners and selectors between the marks make no new heap, nor does what is invisible.
        ("\u0628\u064e\u200d\u064e\u200d\u064e", "\u0628[U+064E][U+200D][U+064E][U+200D][U+064E]"),
        ("\u202e" + 5 * "\u0301" + "\u202c", "[U+202E]" + 5 * "[U+0301]" + "[U+202C]"),
        ("👩\u200d" * 9 + "👩", "👩[U+200D]" * 9 + "👩"),
        ("क\u094d" * 9 + "क", "क[U+094D]" * 9 + "क"),
        (5 * "\u0e33", 5 * "[U+0E33]"),
        (5 * "\u093e", 5 * "[U+093E]"),
        ("\u0915" + 9 * "\u0941\u093e", "\u0915" + 9 * "[U+0941][U+093E]"),
        (5 * "\u1100" + "\u1161", 5 * "[U+1100]" + "\u1161"),
        (5 * "\u0600", 5 * "[U+0600]"),
    ],
)
def test_what_hides_or_piles_up_is_named(text, shown):
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
        "Việt Nam, Nguyễn Thị Ngọc Ánh",
        unicodedata.normalize("NFD", "Việt Nam, Nguyễn Thị Ngọc Ánh"),
        "e" + 5 * "\u0301",  # four: the first is within the letter
        "ภาษาไทย กิ่ง ที่ น้ำ ปู่",
        "שָׁלוֹם בְּרֵאשִׁ֖ית",
        unicodedata.normalize("NFD", "\ufb2c\u05b8\u0596"),
        "اللُّغَةُ ٱلْعَرَبِيَّةُ وَرَحْمَةُ ٱللَّٰهِ",
        "हिन्दी में क्ष्म्य ज़्यादा கார்த்திக்குக்கும் ශ්\u200dරී ලංකා မြွှေ ខ្ញុំ",
        unicodedata.normalize("NFD", "대한민국헌법재판소결정문"),
        "བོད་སྐད། བསྒྲུབས། ཧཱུྃ༔",
        "👩🏻\u200d❤\ufe0f\u200d💋\u200d👨🏿 👨🏻\u200d👩🏼\u200d👧🏽\u200d👦🏾 🏳\ufe0f\u200d🌈",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text):
    assert mark_invisible(text) == text


MARKS = "\u0301\u0302\u0323\u0344\u0334\u05c1\u05bc\u0e47\u20dd\ufe0f"


@given(st.text("eשׁ\ufb2cก <&\n" + MARKS, max_size=40))
def test_of_any_text_the_marks_of_a_letter_that_keeps_more_than_four_when_composed_are_named(text):
    shown, letter = "", ""
    for character in f"{text}\0":
        if character in MARKS:
            letter += character
            continue
        composed = unicodedata.normalize("NFC", letter)
        if sum(unicodedata.category(each) in {"Mn", "Me"} for each in composed) > 4:
            shown += "".join(f"[U+{ord(each):04X}]" if each in MARKS else each for each in letter)
        else:
            shown += mark_invisible(letter)  # a selector may vary nothing
        letter = character
    assert mark_invisible(text) == shown


@pytest.mark.parametrize("piece", ["\u0345\u0316", "a" + 8 * "\u0301", "👩\u200d", "\u0941\u093e"])
def test_ten_times_as_long_a_text_takes_about_ten_times_as_long(piece):
    def measure(length: int) -> float:
        text = piece * (length // len(piece))
        before = time.thread_time()
        mark_invisible(text)
        return time.thread_time() - before

    assert measure(1_000_000) < 30 * max(measure(100_000), 0.01)


def test_a_page_says_why_it_names_a_mark():
    def box(name: str, title: str) -> str:
        return f'<span class="invisible" title="{title}">{name}</span>'

    shown = "&lt;" + 5 * box("U+0334", "One of too many marks on a letter")
    hidden = box("U+202E", "An invisible character")
    assert isolate("<" + 5 * "\u0334" + "\u202e") == f"<bdi>{shown}{hidden}</bdi>"
