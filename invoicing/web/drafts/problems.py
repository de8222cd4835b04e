"""What the rules of a draft find wrong, as sentences for people, in their language.

The rules are those of the tools, to which they speak English. What is not known here stays so.
"""

import re
from collections.abc import Mapping

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from invoicing.errors import FieldProblem

# Of a field, beside which they stand: the problem with a capital and a full stop.
SENTENCES = (
    _("Is required."),
    _("Must not be empty."),
    _("Must not contain control characters."),
    _("Must have at most %(count)s characters."),
    _("Must be positive, with at most 11 digits before a dot and 4 after it, such as 1.5."),
    _("Must be a positive number of at most 9 digits before a dot and 6 after it."),
    _("Must be a date that exists."),
    _("Must be a country of ISO 3166, such as DE."),
    _("Must not be larger than quantity times unit price."),
    _("Must not be before the issue date."),
    _("Must not be before that of the invoice."),
    _("Must take something back."),
    _("Must not be before the first day of the period."),
    _("Needs the first day of the period as well."),
    _("Goes together with the exchange rate: give both or neither."),
    _("Goes together with the discount type: send both or neither."),
    _("Is not an active customer within reach."),
    _("Is not a supported currency."),
    _("Is not a supported language."),
    _("Is not an active tax rate."),
    _("Is only for another currency than %(code)s."),
    _("Is neither the currency of the draft nor of VAT."),
)
# Of all lines together, by the problem.
SENTENCES_ON_LINES: Mapping[str, str] = {
    r"must have at most (?P<count>\d+) entries": _(
        "The lines must have at most %(count)s entries."
    ),
    r"lead to an amount of more than 18 digits": _(
        "The lines lead to an amount of more than 18 digits."
    ),
}
PLACE = re.compile(r"%\\\((\w+)\\\)s")


def as_sentence(problem: FieldProblem) -> str:
    """Return a problem, which reads on from a field's name, as a sentence of its own."""
    said = f"{problem.problem[0].upper()}{problem.problem[1:]}."
    for sentence in SENTENCES:
        pattern = PLACE.sub(r"(?P<\1>\\w+)", re.escape(sentence))
        if match := re.fullmatch(pattern, said):
            return gettext(sentence) % match.groupdict()
    return said


def as_sentence_on_lines(problem: FieldProblem) -> str:
    """Return a problem of the lines as such as a sentence."""
    for pattern, sentence in SENTENCES_ON_LINES.items():
        if match := re.fullmatch(pattern, problem.problem):
            return gettext(sentence) % match.groupdict()
    return as_sentence(problem)
