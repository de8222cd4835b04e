"""Lists of the admin on a phone: each cell says which column it belongs to."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.html import escape, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

register = template.Library()


@register.simple_tag
def labelled_cells(
    cells: Iterable[SafeString], headers: Iterable[Mapping[str, Any]]
) -> list[SafeString]:
    """Return a row's cells as Django made them, with the heading of their column as data-label."""
    return [_label(cell, str(header["text"])) for cell, header in zip(cells, headers, strict=False)]


def _label(cell: SafeString, heading: str) -> SafeString:
    label = escape(capfirst(strip_tags(heading).strip()))
    for tag in ("<td", "<th"):
        if cell.startswith(tag):
            return mark_safe(f'{tag} data-label="{label}"{cell[len(tag) :]}')  # noqa: S308  Django's cell and an escaped label
    return cell
