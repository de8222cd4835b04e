"""How pages show texts that people and agents typed: what they hide, and where they end."""

from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from invoicing import visible_text

register = template.Library()


@register.filter
def isolate(value: Any) -> SafeString:
    """Keep a text's reading direction to itself, and show the characters that hide in it."""
    return mark_safe(f"<bdi>{_show(value)}</bdi>")  # noqa: S308  escaped in _show


@register.filter
def isolate_lines(value: Any) -> SafeString:
    """Do so for each line of a text."""
    lines = str(value).split("\n")
    return mark_safe("<br>".join(map(isolate, lines)))  # noqa: S308  escaped line by line


@register.filter
def mark_invisible(value: Any) -> str:
    """Show them in plain text, where a page can hold no markup."""
    return visible_text.mark_invisible(str(value))


def _show(value: Any) -> str:
    return visible_text.replace_invisible(escape(str(value)), _mark)


def _mark(character: str) -> str:
    name = visible_text.name_character(character)
    return f'<span class="invisible" title="An invisible character">{name}</span>'
