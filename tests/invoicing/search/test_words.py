import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.search.words import (
    forms_of,
    matches,
    prefixes_of,
    required_prefixes,
    sought_in,
    words_of,
)
from tests.typed_searches import TYPED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("INV-2026-0001", ["inv", "2026", "0001"]),
        ("Café Société", ["cafe", "societe"]),
        ("Straße", ["strasse"]),
        ("ŁÓDŹ", ["lodz"]),
        ("Smørrebrød", ["smorrebrod"]),
        ("İstanbul Isparta", ["istanbul", "isparta"]),
        ("\uff26\uff35\uff2c\uff2c\u3000\uff37idth", ["full", "width"]),
        ("東京タワー Ltd", ["東京たわー", "ltd"]),
        ("株式会社ABC", ["株式会社", "abc"]),
        ("한국 전력", ["한국", "전력"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ﬁrst_second", ["first", "second"]),
        ("Donau\u00addampf", ["donaudampf"]),
        ("\u0645\u06cc\u200c\u062e\u0648", ["\u0645\u064a\u062e\u0648"]),
        ("क्\u200dषत्रिय", ["क्षत्रिय"]),
        ("葛\U000e0100城市", ["葛城市"]),
        ("\ufeffAc\u200bme", ["acme"]),
        ("--- !!! ・", []),
        ("\u0301", []),
        ("\u094d", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_accents(text, words) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize("character", ["\0", "\n", "\x85", *"\u2028\u2029\u2800\ufff9\ufffb"])
def test_what_is_unseen_and_no_part_of_a_word_parts_words(character) -> None:
    assert words_of(f"a{character}b") == ["a", "b"]


@pytest.mark.parametrize(("search", "text"), TYPED)
def test_what_people_type_finds_what_they_mean_in_the_table_and_in_the_record(search, text) -> None:
    assert matches(sought_in(search), ["other", text])
    prefixes = prefixes_of([text])
    assert all(any_of & prefixes for any_of in required_prefixes(sought_in(search)))


@pytest.mark.parametrize(
    ("search", "texts"),
    [
        ("001", ["INV-2026-0001"]),
        ("26", ["INV-2026-0001"]),
        ("inv 2", ["INV-1999-0001"]),
        ("inv-1", ["INV 2026-0085"]),
        ("mueller", ["Muller"]),
        ("muller", ["Mueller"]),
        ("oe", ["Oslo", "Essen"]),
        ("cocacola", ["Coca Pepsi-Cola"]),
        ("coca-cola", ["Coca Pepsi"]),
        ("cacola", ["Coca-Cola"]),
        ("po4711", ["PO 47 11"]),
        ("4711b", ["04711B"]),
        ("ltd2000", ["2000 Ltd"]),
        ("ller", ["Müller"]),
        ("muller paris", ["Müller"]),
        ("か", ["がく"]),
        ("京東", ["東京"]),
        ("국한", ["한국 전력"]),
        ("!?", ["anything"]),
        ("acmeb", ["ACME", "Berlin"]),
    ],
)
def test_a_record_without_such_words_is_not_found(search, texts) -> None:
    assert not matches(sought_in(search), texts)


def test_a_text_of_many_parts_has_few_forms() -> None:
    assert len(forms_of("-".join("abcdefghij" * 5))) == 10 + 4


TEXT = st.text("abäøuœ東京カ한국ฟ ก-'10é", max_size=24)


@given(search=TEXT, texts=st.lists(TEXT, max_size=3))
def test_what_matches_has_all_the_beginnings_that_are_needed(search, texts) -> None:
    if matches(sought_in(search), texts):
        prefixes = prefixes_of(texts)
        assert all(any_of & prefixes for any_of in required_prefixes(sought_in(search)))


@given(text=TEXT)
def test_a_text_finds_itself(text) -> None:
    assert matches(sought_in(text), [text]) or not words_of(text)
