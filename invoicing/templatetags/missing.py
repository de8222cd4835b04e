"""What is missing where it is needed, as a notice at the top of a page."""

from typing import Any

from django import template

from invoicing.models import Document
from invoicing.web.gaps import describe, first_number_of, gaps_of_draft

register = template.Library()


@register.inclusion_tag("invoicing/gaps.html", takes_context=True)
def missing_for_draft(context: Any) -> dict[str, object]:
    """Show what the person lacks to write a draft; nothing if that is nothing."""
    return describe(gaps_of_draft(context["request"].user))


@register.inclusion_tag("invoicing/first_number.html", takes_context=True)
def first_number(context: Any, document: Document) -> dict[str, object]:
    """Show the number with which the document begins a series, before it is issued."""
    return {"gap": first_number_of(context["request"].user, document)}
