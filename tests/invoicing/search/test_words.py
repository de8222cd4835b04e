import tracemalloc
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.search import words
from invoicing.search.words import matches, prefixes_of, required_prefixes, words_of


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
        ("東京タワー Ltd", ["東京タワー", "ltd"]),
        ("株式会社ABC", ["株式会社", "abc"]),
        ("한국 전력", ["한국", "전력"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ﬁrst_second", ["first", "second"]),
        ("Donau\u00addampf", ["donaudampf"]),
        ("\u0645\u06cc\u200c\u062e\u0648", ["\u0645\u06cc\u062e\u0648"]),
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


@pytest.mark.parametrize(
    ("search", "texts"),
    [
        ("0001", ["INV-2026-0001"]),
        ("inv 2026", ["INV-2026-0001"]),
        ("mull", ["Müller & Söhne"]),
        ("MÜLLER", ["Muller"]),
        ("sohne mul", ["Müller & Söhne"]),
        ("京", ["東京タワー"]),
        ("京タ", ["東京タワー"]),
        ("ﾀﾜｰ", ["東京タワー"]),
        ("한", ["한국 전력"]),
        ("กรุง", ["ธนาคารกรุงเทพ"]),
        ("ανθη", ["Άνθη"]),
        ("acme berlin", ["ACME", "Berlin"]),
    ],
)
def test_every_word_of_the_search_begins_a_word_of_the_record(search, texts) -> None:
    assert matches(words_of(search), texts)


@pytest.mark.parametrize(
    ("search", "texts"),
    [
        ("001", ["INV-2026-0001"]),
        ("ller", ["Müller"]),
        ("muller paris", ["Müller"]),
        ("か", ["がく"]),
        ("京東", ["東京"]),
        ("국", ["한국"]),
        ("!?", ["anything"]),
        ("acmeb", ["ACME", "Berlin"]),
    ],
)
def test_a_record_without_such_words_is_not_found(search, texts) -> None:
    assert not matches(words_of(search), texts)


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        ("Inv 20", {"i", "in", "inv", "2", "20"}),
        ("a" * 20, {"a" * length for length in range(1, 17)}),
        ("東京", {"東", "東京", "京"}),
        ("東京商事", {"東", "京", "商", "事", "東京", "京商", "商事", "東京商", "京商事"}),
        ("!", set()),
    ],
)
def test_a_record_is_found_by_the_prefixes_of_its_words(text, prefixes) -> None:
    assert prefixes_of([text]) == prefixes


@pytest.mark.parametrize(
    ("search", "needed"),
    [
        ("inv", {"inv"}),
        ("in inv", {"inv"}),
        ("inv 2026", {"inv", "2026"}),
        ("a" * 20, {"a" * 16}),
        ("京", {"京"}),
        ("東京商事", {"東京商", "京商事"}),
        ("京 東京商", {"東京商", "京"}),
    ],
)
def test_a_search_needs_few_beginnings_that_few_records_have(search, needed) -> None:
    assert required_prefixes(words_of(search)) == needed


TEXT = st.text("abä東京カฟ ก-1é", max_size=24)


@given(search=TEXT, texts=st.lists(TEXT, max_size=3))
def test_what_matches_has_all_the_beginnings_that_are_needed(search, texts) -> None:
    if matches(words_of(search), texts):
        assert required_prefixes(words_of(search)) <= prefixes_of(texts)


def test_a_text_that_grows_costs_no_look_at_each_of_its_characters(monkeypatch) -> None:
    """NFKD makes 18 characters of this one, and a search compares thousands of references."""
    looks = [Mock(wraps=words._is_accent), Mock(wraps=words._is_of_a_word)]
    monkeypatch.setattr(words, "_is_accent", looks[0])
    monkeypatch.setattr(words, "_is_of_a_word", looks[1])
    assert len(words_of("\ufdfa" * 100)) == 301
    assert 0 < sum(each.call_count for each in looks) < 50


def test_references_of_agents_leave_little_in_the_memory_of_a_worker() -> None:
    """Each of these has 297 prefixes, and agents write 60 a minute."""
    tracemalloc.start()
    try:
        for first in range(0x4E00, 0x8900, 50):
            prefixes_of(["".join(map(chr, range(first, first + 100)))])
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 4_000_000
