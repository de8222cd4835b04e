"""The catalogues of translations: complete, compiled, and harmless to a project's own pages."""

import ast
import importlib.util
import re
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from django.core.management import CommandError, call_command
from django.utils.translation import gettext_lazy, override

from agent_access.approvals.kinds import Words
from agent_access.connections import ACCESS_OFF, WRONG_DAYS, ConnectionNotAllowedError
from agent_access.translations import as_written
from tests.translations import (
    APP,
    CATALOGUES,
    extract_messages,
    find_sources,
    list_untranslated,
    read_catalogue,
    refresh,
)

pytestmark = pytest.mark.sqlite  # texts are the same on both databases

LANGUAGES = ("de",)
# The apps beside which this one is installed, whose pages read the same catalogues.
NEIGHBOURS = ("django", "oauth2_provider", "rest_framework")

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|</?\w[^>]*>")
MARKED = re.compile(r"\{% blocktranslate.*?\{% endblocktranslate %\}|\{\{.*?\}\}", re.DOTALL)
NOT_SHOWN = re.compile(
    r"\{% block width %\}.*?\{% endblock %\}|\{% comment %\}.*?\{% endcomment %\}"
    r"|\{#.*?#\}|\{%.*?%\}|<[^>]*>",
    re.DOTALL,
)
READ_ALOUD = re.compile(r'(?:alt|aria-label|data-copied|data-label|placeholder|title)="([^"]*)"')

every_catalogue = pytest.mark.parametrize(
    "path", CATALOGUES, ids=[path.parts[-3] for path in CATALOGUES]
)


def key_of(message):
    return message.context, message.id


def as_tuple(texts):
    return texts if isinstance(texts, tuple) else (texts,)


def test_there_is_a_catalogue_for_each_language():
    assert tuple(path.parts[-3] for path in CATALOGUES) == LANGUAGES


@every_catalogue
def test_every_text_of_the_pages_is_translated(path):
    wanted = {key_of(each) for each in extract_messages() if each.id}
    catalogue = read_catalogue(path)
    assert {key_of(each) for each in catalogue if each.id} == wanted
    assert len(wanted) > 300
    assert list(list_untranslated(path)) == []


@every_catalogue
def test_a_translation_has_the_placeholders_and_the_markup_of_its_text(path):
    for message in read_catalogue(path):
        for text, translation in zip(as_tuple(message.id), as_tuple(message.string), strict=True):
            if message.id:
                found = [sorted(PLACEHOLDER.findall(each)) for each in (text, translation)]
                assert found[0] == found[1], text


@every_catalogue
def test_a_catalogue_is_as_the_command_writes_it_and_compiled(path):
    source, compiled = refresh(path)
    assert path.read_bytes() == source
    assert path.with_suffix(".mo").read_bytes() == compiled
    again = BytesIO()
    write_mo(again, read_catalogue(path))
    assert again.getvalue() == compiled


def test_the_command_takes_new_texts_drops_old_ones_and_guesses_nothing(tmp_path):
    """A text that is nearly the same as an old one gets no translation."""
    [path, *_] = CATALOGUES
    copy = tmp_path / "de" / "LC_MESSAGES" / "django.po"
    copy.parent.mkdir(parents=True)
    former = path.read_text(encoding="utf-8").replace('msgid "Approve"', 'msgid "Approve it"')
    copy.write_text(former, encoding="utf-8")
    copy.write_bytes(refresh(copy)[0])
    assert list(list_untranslated(copy)) == ["Approve"]
    written = copy.read_text(encoding="utf-8")
    assert "Approve it" not in written
    assert written.startswith("# German translations")


@every_catalogue
def test_no_text_is_translated_otherwise_than_on_the_pages_of_its_neighbours(path):
    """All apps of a project share one table: ours must not change what others say."""
    ours = {key_of(each): each.string for each in read_catalogue(path) if each.id}
    for package in NEIGHBOURS:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        for other in Path(spec.origin).parent.glob(f"**/locale/{path.parts[-3]}/*/django.po"):
            for message in read_catalogue(other):
                if message.id and key_of(message) in ours:
                    assert ours[key_of(message)] == message.string, (other, message.id)


def test_no_text_of_a_template_is_left_unmarked():
    for path in find_sources():
        if path.suffix == ".html":
            text = MARKED.sub("", path.read_text(encoding="utf-8"))
            left = [*NOT_SHOWN.sub("", text).split(), *READ_ALOUD.findall(text)]
            assert [each for each in left if re.search(r"[A-Za-z]", each)] == [], path


def test_no_text_is_marked_within_an_f_string():
    """The extractor of Python 3.11 does not look into one."""
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                assert not {name for name in names if name == "_" or "gettext" in name}, path


def test_pages_tell_a_sentence_in_their_language_and_commands_in_english():
    error = ConnectionNotAllowedError(WRONG_DAYS, least=1, most=30)
    with override("de"):
        assert error.told() == "Eine Verbindung dauert 1 bis 30 Tage."
        assert str(error) == "A connection lasts 1 to 30 days."
    assert error.told() == str(error)


@pytest.mark.django_db
def test_a_command_tells_its_operator_english(owner, delegate):
    asked = ["--user", delegate.email, "--scopes", "drafts:read", "--days", "7"]
    with override("de"), pytest.raises(CommandError, match=f"^{re.escape(ACCESS_OFF)}$"):
        call_command("connect_agent", *asked)


def test_programs_read_words_as_they_were_written():
    words = Words(title="Throw away", question="Throw it away?")
    with override("de"):
        assert str(words.button) == "Genehmigen"
        assert as_written(words.button) == "Approve"
        assert as_written("plain") == "plain"
        assert str(gettext_lazy("Approvals")) == "Genehmigungen"
