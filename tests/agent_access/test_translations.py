"""What pages of agent_access say in the reader's language, and to programs in English."""

import ast
import re

import pytest
from django.core.management import CommandError, call_command
from django.utils.translation import gettext_lazy, override

from agent_access.approvals.kinds import Words
from agent_access.connections import ACCESS_OFF, WRONG_DAYS, ConnectionNotAllowedError
from agent_access.translations import as_written
from tests.translations import AGENT_ACCESS, APP, find_sources

pytestmark = pytest.mark.sqlite  # texts are the same on both databases

MARKED = re.compile(r"\{% blocktranslate.*?\{% endblocktranslate %\}|\{\{.*?\}\}", re.DOTALL)
NOT_SHOWN = re.compile(
    r"\{% block width %\}.*?\{% endblock %\}|\{% comment %\}.*?\{% endcomment %\}"
    r"|\{#.*?#\}|\{%.*?%\}|<[^>]*>",
    re.DOTALL,
)
READ_ALOUD = re.compile(r'(?:alt|aria-label|data-copied|data-label|placeholder|title)="([^"]*)"')


def test_no_text_of_a_template_is_left_unmarked():
    for path in find_sources(AGENT_ACCESS):
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
