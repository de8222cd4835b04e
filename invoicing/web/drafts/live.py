"""The answer to the script of a draft's form while somebody types: what the server makes of it.

It says what the lines that can be read come to, by the calculation that the tools use, and what is
wrong with what was typed. It saves nothing.
"""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import JsonResponse, QueryDict
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from pydantic import ValidationError

from invoicing.draft_fields import LineItemInput
from invoicing.errors import DraftInvalidError
from invoicing.models import User
from invoicing.money import SUPPORTED_CURRENCIES
from invoicing.paper.formats import Formats
from invoicing.services.draft_content import calculate_lines
from invoicing.services.drafts import preview_draft
from invoicing.web.drafts.draft_forms import DraftForms
from invoicing.web.drafts.totals import ShownTotals, show_totals
from invoicing.web.drafts.typed import DEFAULT_CURRENCY, is_blank, read_typed

# The field with which the script asks, and that with the name of the field that is being typed in.
LIVE, TYPING = "live", "typing"
# Sent where the form was refused as a whole: then what is missing stays told.
TELLS_ALL = "tells_all"

# What the amount of a line depends on; its description, for one, may still be missing.
NUMBERS = ("quantity", "unit_price", "discount_type", "discount_value", "tax_rate_id")
UNNAMED = "-"


def answer_live(user: User, forms: DraftForms, data: QueryDict) -> JsonResponse:
    """Return the totals, the amount of each line, the mistakes by the IDs of their fields."""
    _judge(user, forms)
    totals, uncounted = _calculate(forms)
    _hush(forms, typing=data.get(TYPING, ""), tells_all=TELLS_ALL in data)
    context = {"totals": totals, "errors": forms.errors, "uncounted": uncounted}
    return JsonResponse(
        {
            "fields": _find_proposed(forms, data),
            "problems": dict(_show_problems(forms)),
            "amounts": [form.amount for form in forms.lines],
            "totals": render_to_string("invoicing/draft_totals.html", context),
            "told": _("Total: %(total)s") % {"total": totals.grand_total} if totals else "",
        }
    )


def _judge(user: User, forms: DraftForms) -> None:
    """Mark all that would keep the draft from being saved."""
    try:
        if draft := forms.read():
            preview_draft(user, *draft)
    except DraftInvalidError as error:
        forms.add_problems(error.problems)


def _calculate(forms: DraftForms) -> tuple[ShownTotals | None, str]:
    """Return the totals of the lines that can be read, and which lines are not among them."""
    lines = dict(_read_lines(forms))
    missing = [
        str(number)
        for number, line in enumerate(forms.typed.lines, start=1)
        if number - 1 not in lines and not is_blank(line)
    ]
    uncounted = ngettext(
        "Line %(lines)s is not counted yet.", "Lines %(lines)s are not counted yet.", len(missing)
    ) % {"lines": ", ".join(missing)}
    try:
        totals = calculate_lines(lines) if lines else None
    except DraftInvalidError as error:
        if not forms.errors:
            forms.add_problems(error.problems)
        return None, ""
    if totals is None:
        return None, ""
    formats = _formats_of(forms)
    for position, amounts in zip(lines, totals.lines, strict=True):
        forms.lines[position].amount = formats.amount(amounts.net_amount)
    return show_totals(totals, formats), uncounted if missing else ""


def _read_lines(forms: DraftForms) -> Iterator[tuple[int, LineItemInput]]:
    """Yield each line whose amount can be computed, with its position."""
    for position, form in enumerate(forms.lines):
        if form.errors.keys() & {*NUMBERS}:
            continue
        numbers = {name: form.cleaned_data.get(name) for name in NUMBERS}
        try:
            yield position, LineItemInput.model_validate({"description": UNNAMED, **numbers})
        except ValidationError:  # what only a whole draft is told of
            continue


def _formats_of(forms: DraftForms) -> Formats:
    """Return the formats of what is chosen, or the usual ones where a choice is none."""
    language, code = (forms.typed.header[name] for name in ("language", "currency_code"))
    return Formats(
        language if language in dict(settings.DOCUMENT_LANGUAGES) else settings.LANGUAGE_CODE,
        code if code in SUPPORTED_CURRENCIES else DEFAULT_CURRENCY,
        forms.typed.minor_unit,
    )


def _hush(forms: DraftForms, *, typing: str, tells_all: bool) -> None:
    """Take back the mistakes of what is still to be typed: it is early to complain."""
    for form in (forms.header, forms.person, *forms.lines):
        for name in [*form.errors]:
            field = form[name]
            if field.html_name == typing or not (tells_all or field.value()):
                del form.errors[name]


def _show_problems(forms: DraftForms) -> Iterator[tuple[str, str]]:
    for field in forms.header_fields():
        if field.errors:
            yield field.id_for_label, str(field.errors)
    for form in forms.lines:
        for field in form:
            if field.errors:
                context = {"field": field}
                yield field.id_for_label, render_to_string("invoicing/draft_problem.html", context)


def _find_proposed(forms: DraftForms, data: QueryDict) -> dict[str, Any]:
    """Return what a new draft proposes for another customer than before, by field."""
    sent = read_typed(data)
    if forms.typed.proposed_for == sent.proposed_for:
        return {}
    changed = {name: text for name, text in forms.typed.header.items() if text != sent.header[name]}
    return changed | {"proposed_for": forms.typed.proposed_for}
