"""Cells of the admin's lists, with the heading of their column, and invisible text made visible."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.html import escape, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from agent_access.templatetags.texts import show_hidden

register = template.Library()

CELL = re.compile(r"<(t[dh])([^>]*)>(.*)</\1>", re.DOTALL)


@register.simple_tag
def labelled_cells(
    cells: Iterable[SafeString], headers: Iterable[Mapping[str, Any]]
) -> list[SafeString]:
    """Return a row's cells as Django made them, with their column's heading as data-label."""
    return [_label(cell, str(header["text"])) for cell, header in zip(cells, headers, strict=False)]


def _label(cell: SafeString, heading: str) -> SafeString:
    found = CELL.fullmatch(cell)
    if found is None:
        return cell
    tag, attributes = found.group(1, 2)
    content = mark_safe(found[3])  # noqa: S308  Django's own markup
    label = escape(capfirst(strip_tags(heading).strip()))
    return mark_safe(  # noqa: S308  Django's own cell, and a label that is escaped
        f'<{tag}{attributes} data-label="{label}"><div>{show_hidden(content)}</div></{tag}>'
    )
