"""What the rules of a draft find wrong, as sentences beside the fields."""

from django.utils.translation import gettext

from invoicing.errors import FieldProblem


def as_sentence(problem: FieldProblem) -> str:
    """Return a problem, which reads on from a field's name, as a sentence of its own."""
    told = problem.told()
    return f"{told[0].upper()}{told[1:]}."


def as_sentence_on_lines(problem: FieldProblem) -> str:
    """Return a problem of all lines together as a sentence."""
    return gettext("The lines {problem}.").format(problem=problem.told())
