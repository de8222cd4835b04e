"""How the paper shows a text that was another before: that one struck, then the one of now."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agent_access.templatetags.texts import isolate, isolate_lines
from invoicing.paper.marking import Changed

register = template.Library()


@register.filter
def marked(value: Any) -> Any:
    """Return a figure of ours as it is, or if it changed, both."""
    return _show_both(value, isolate) if isinstance(value, Changed) else value


@register.filter
def marked_text(value: Any) -> SafeString:
    """Return a text that somebody typed, each line by itself; if it changed, both."""
    return _show_both(value, isolate_lines) if isinstance(value, Changed) else isolate_lines(value)


def _show_both(changed: Changed, show: Any) -> SafeString:
    parts = (
        ("del", _("before:"), changed.before),
        ("ins", _("now:"), str(changed)),
    )
    # The words for who cannot see the marks are in the language of the page, not of the paper.
    markup = '<{tag}><span class="unseen" lang="{language}">{word} </span>{text}</{tag}>'
    shown = [
        format_html(markup, tag=tag, language=get_language(), word=word, text=show(text))
        for tag, word, text in parts
        if text
    ]
    return mark_safe(" ".join(shown))  # noqa: S308  each part is
