"""How pages show texts that people and agents typed: isolated, with what hides in them."""

import re
from typing import Any

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from agent_access import visible_text

register = template.Library()

# Values in a tag are escaped, so the first > ends it.
TAG = re.compile(r"(<[^>]*>)")


@register.filter
def isolate(value: Any) -> SafeString:
    """Keep a text's reading direction to itself, and show the characters that hide in it."""
    return mark_safe(f"<bdi>{show_hidden(value)}</bdi>")  # noqa: S308  escaped in show_hidden


@register.filter
def isolate_lines(value: Any) -> SafeString:
    """Isolate each line of a text."""
    lines = str(value).split("\n")
    return mark_safe("<br>".join(map(isolate, lines)))  # noqa: S308  escaped line by line


@register.filter
def mark_invisible(value: Any) -> str:
    """Show invisible characters by name, in places that can hold no markup."""
    return visible_text.mark_invisible(str(value))


def show_hidden(value: Any) -> str:
    """Return markup that names invisible characters: plainly within a tag, else in a span."""
    parts = TAG.split(conditional_escape(value))
    return "".join(
        visible_text.mark_invisible(part)
        if part.startswith("<")
        else visible_text.replace_invisible(part, _mark)
        for part in parts
    )


def _mark(character: str) -> str:
    name = visible_text.name_character(character)
    is_hidden = visible_text.HIDDEN.match(character)
    title = _("An invisible character") if is_hidden else _("One of too many marks on a letter")
    return f'<span class="invisible" title="{title}">{name}</span>'
