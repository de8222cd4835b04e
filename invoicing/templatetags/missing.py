"""What is missing where it is needed, as a notice at the top of a page."""

from typing import Any

from django import template

from invoicing.models import Document
from invoicing.web.gaps import (
    describe,
    first_number_of,
    gaps_of_draft,
    whom_to_ask_about,
)

register = template.Library()


@register.inclusion_tag("invoicing/gaps.html", takes_context=True)
def missing_for_draft(context: Any) -> dict[str, object]:
    """Show what the person lacks to write a draft; nothing if that is nothing."""
    return describe(gaps_of_draft(context["request"].user))


@register.inclusion_tag("invoicing/before_issue.html", takes_context=True)
def before_issue(context: Any, document: Document) -> dict[str, object]:
    """Show the number with which the document begins a series, and whom to ask about warnings."""
    user = context["request"].user
    return {"gap": first_number_of(user, document), "ask": whom_to_ask_about(user, document)}
