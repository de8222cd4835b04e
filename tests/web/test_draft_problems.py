"""What the rules of the tools find wrong is said to people in sentences that can be translated."""

import re

import pytest

from config.environment import PROJECT_FOLDER
from invoicing.errors import FieldProblem
from invoicing.web.drafts.problems import SENTENCES, as_sentence, as_sentence_on_lines

pytestmark = pytest.mark.sqlite  # no database decides that

RULES = ("draft_fields.py", "services/draft_content.py", "services/corrections.py")
LITERAL = re.compile(r'(?:problem\(|FieldProblem\("[a-z_]+", )"([^"]+)"')


def test_every_problem_of_a_draft_has_its_sentence():
    told = [
        text
        for name in RULES
        for text in LITERAL.findall((PROJECT_FOLDER / "invoicing" / name).read_text("utf-8"))
    ]
    assert len(told) >= 10
    known = {sentence.rstrip(".").casefold() for sentence in SENTENCES}
    of_lines = "lead to an amount of more than 18 digits"
    assert [text for text in told if text.casefold() not in known and text != of_lines] == []


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        ("must have at most 40 characters", "Must have at most 40 characters."),
        ("is only for another currency than EUR", "Is only for another currency than EUR."),
        ("is new to this page", "Is new to this page."),
    ],
)
def test_a_sentence_says_what_the_rule_says(problem, sentence):
    assert as_sentence(FieldProblem("any", problem)) == sentence


def test_the_lines_as_such_are_named():
    too_many = FieldProblem("line_items", "must have at most 100 entries")
    assert as_sentence_on_lines(too_many) == "The lines must have at most 100 entries."
