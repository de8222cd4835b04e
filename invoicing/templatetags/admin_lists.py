"""Lists of the admin on a phone: each cell says which column it belongs to."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.html import escape, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

register = template.Library()

CELL = re.compile(r"<(t[dh])([^>]*)>(.*)</\1>", re.DOTALL)


@register.simple_tag
def labelled_cells(
    cells: Iterable[SafeString], headers: Iterable[Mapping[str, Any]]
) -> list[SafeString]:
    """Return a row's cells as Django made them, with the heading of their column as data-label."""
    return [_label(cell, str(header["text"])) for cell, header in zip(cells, headers, strict=False)]


def _label(cell: SafeString, heading: str) -> SafeString:
    found = CELL.fullmatch(cell)
    if found is None:
        return cell
    tag, attributes, content = found.groups()
    label = escape(capfirst(strip_tags(heading).strip()))
    return mark_safe(  # noqa: S308  Django's own cell, and a label that is escaped
        f'<{tag}{attributes} data-label="{label}"><div>{content}</div></{tag}>'
    )
