"""Every text that people read is marked, so that a catalogue can translate it."""

import ast

import pytest

from tests.translations import PAGES, find_sources
from tests.unmarked_texts import find_unmarked, list_files, name_of

pytestmark = pytest.mark.sqlite  # texts are the same on both databases


def test_every_text_that_people_read_is_marked(subtests):
    for path in list_files():
        with subtests.test(path=name_of(path)):
            assert find_unmarked(path) == []


def test_no_text_is_marked_within_an_f_string():
    """The extractor of Python 3.11 does not look into one."""
    for path in find_sources(PAGES):
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
                    names = {each.id for each in calls if isinstance(each, ast.Name)}
                    assert not {name for name in names if name == "_" or "gettext" in name}, path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<p>Sign out</p>", ["Sign out"]),
        ('<p>{% translate "Sign out" %}</p>', []),
        ("{% blocktranslate trimmed %}Signed in as {{ name }}.{% endblocktranslate %}", []),
        ('<button title="Sign out" class="a plain one">x</button>', ["Sign out"]),
        ('<button aria-label="{% translate "Sign out" %}">.</button>', []),
        ('{% include "a.html" with label="Sign out" %}', ["Sign out"]),
        ('{% include "a.html" with label=_("Sign out") kind="draft" %}', []),
        ('{{ name|default:"Nobody yet" }}', ["Nobody yet"]),
        ("<code>manage.py check</code> {# a remark #} &nbsp; · PDF", []),
        ("<p>{% if one %}Lost it?{% endif %}\n Ask {{ owner }}, please.</p>", ["Lost it?", "Ask"]),
    ],
)
def test_a_text_of_a_template_is_found(tmp_path, text, found):
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    assert find_unmarked(tmp_path / "page.html")[: len(found) or None] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""A sentence in a docstring."""', []),
        ('PROBLEM = "Nothing was saved."', ["Nothing was saved."]),
        ('PROBLEM = _("Nothing was saved.")', []),
        ('PROBLEM = f"Nothing of {name} was saved."', ["Nothing of {} was saved."]),
        ('field = forms.CharField(label="Name")', ["Name"]),
        ("class F(Form):\n    name = forms.CharField()", ["the label of name"]),
        ('class F(Form):\n    name = forms.CharField(label=_("Name"))', []),
        ('class M(Model):\n    name = models.CharField("name")', ["name"]),
        ('class M(Model):\n    name = models.CharField(_("name"), max_length=3)', []),
        ('class K(TextChoices):\n    A = "a", "First"\n    B = "b"', ["First", "the label of B"]),
        ('raise ValidationError("wrong")', ["wrong"]),
        ('raise ValueError("A programmer reads this.")', []),
        ('logger.info("An operator reads this.")', []),
        ('messages.success(request, "done")', ["done"]),
        ('form.add_error("name", "taken")', ["taken"]),
        ('@admin.display(description="status")\ndef status(self): pass', ["status"]),
        ('name = "people"; path = "a/b.html"', []),
    ],
)
def test_a_text_of_a_module_is_found(tmp_path, text, found):
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    assert find_unmarked(tmp_path / "module.py") == found
