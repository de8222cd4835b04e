"""The catalogues of translations: complete, compiled, and of one mind with their neighbours."""

import re
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo

from tests.translations import (
    AGENT_ACCESS,
    PAGES,
    PARTS,
    extract_messages,
    key_of,
    language_of,
    list_untranslated,
    part_of,
    read_catalogue,
    read_neighbours,
    refresh,
)

pytestmark = pytest.mark.sqlite  # texts are the same on both databases

LANGUAGES = ["de"]
CATALOGUES = [path for part in PARTS for path in part.catalogues()]

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}|</?\w[^>]*>")

every_catalogue = pytest.mark.parametrize(
    "path",
    CATALOGUES,
    ids=[f"{part_of(path).folder.name}-{language_of(path)}" for path in CATALOGUES],
)


def as_tuple(texts):
    return texts if isinstance(texts, tuple) else (texts,)


def placeholders_of(text):
    return sorted(PLACEHOLDER.findall(text))


@pytest.mark.parametrize("part", PARTS, ids=[part.folder.name for part in PARTS])
def test_there_is_a_catalogue_for_each_language(part):
    assert [language_of(path) for path in part.catalogues()] == LANGUAGES


@every_catalogue
def test_every_text_is_translated_with_each_of_its_plurals(path):
    wanted = {key_of(each) for each in extract_messages(part_of(path)) if each.id}
    catalogue = read_catalogue(path)
    assert {key_of(each) for each in catalogue if each.id} == wanted
    assert list(list_untranslated(path)) == []


def test_the_catalogues_hold_what_all_pages_say():
    assert len(extract_messages(AGENT_ACCESS)) > 300
    assert len(extract_messages(PAGES)) > 0


@every_catalogue
def test_a_translation_has_the_placeholders_and_the_markup_of_its_text(path):
    """A form for one thing may spell the number out, so it may leave out what the others have."""
    for message in read_catalogue(path):
        if not message.id:
            continue
        one, *more = as_tuple(message.id)
        said = [text for text in as_tuple(message.string) if text]
        wanted = placeholders_of(more[0] if more else one)
        for index, text in enumerate(said):
            allowed = [wanted, placeholders_of(one)] if more and index == 0 else [wanted]
            assert placeholders_of(text) in allowed, text


@every_catalogue
def test_a_catalogue_is_as_the_command_writes_it_and_compiled(path):
    source, compiled = refresh(path)
    assert path.read_bytes() == source
    assert path.with_suffix(".mo").read_bytes() == compiled
    again = BytesIO()
    write_mo(again, read_catalogue(path))
    assert again.getvalue() == compiled


def copy_of(path: Path, folder: Path, *, text: str) -> Path:
    copy = folder / language_of(path) / "LC_MESSAGES" / "django.po"
    copy.parent.mkdir(parents=True)
    copy.write_text(text, encoding="utf-8")
    return copy


def test_the_command_takes_new_texts_drops_old_ones_and_guesses_nothing(tmp_path):
    """A text that is nearly the same as an old one gets no translation."""
    [path, *_] = AGENT_ACCESS.catalogues()
    former = path.read_text(encoding="utf-8").replace('msgid "Approve"', 'msgid "Approve it"')
    copy = copy_of(path, tmp_path, text=former)
    copy.write_bytes(refresh(copy)[0])
    assert "Approve" in list_untranslated(copy)
    written = copy.read_text(encoding="utf-8")
    assert "Approve it" not in written
    assert written.startswith("# German translations")


def test_the_command_begins_a_language_from_an_empty_file_with_what_neighbours_say(tmp_path):
    copy = tmp_path / "fr" / "LC_MESSAGES" / "django.po"
    copy.parent.mkdir(parents=True)
    copy.touch()
    copy.write_bytes(refresh(copy)[0])
    said = {key_of(each): each.string for each in read_catalogue(copy)}
    assert said[None, "Approve"] == ""
    assert said[None, "Delete"] == "Supprimer"


@every_catalogue
def test_no_text_is_translated_otherwise_than_on_the_pages_of_its_neighbours(path):
    """All apps of a project share one table: ours must not change what others say."""
    known = read_neighbours(part_of(path), language_of(path))
    for message in read_catalogue(path):
        if message.id and message.string:
            assert message.string == known.get(key_of(message), message.string)
