"""Facts as rows of a label and a text, for pages of kinds that lay out none themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agent_access.facts import UNSET, Facts


@dataclass(frozen=True)
class Change:
    """A fact before and after; it is empty on a side that lacks it."""

    label: str
    before: str
    after: str


def list_facts(facts: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield a label and the text of each fact, such as "Lines 1 title"; without those unset."""
    if isinstance(facts, dict | list):
        members = facts.items() if isinstance(facts, dict) else enumerate(facts, start=1)
        for name, value in members:
            yield from list_facts(value, f"{path} {name}".strip())
    elif facts not in UNSET:
        yield path.replace("_", " ").capitalize(), _write_fact(facts)


def _write_fact(fact: Any) -> str:
    if isinstance(fact, bool):
        return _("yes") if fact else _("no")
    return str(fact)


def list_changes(prepared: Facts, current: Facts) -> list[Change]:
    """Return the facts that differ, each as it was prepared and as it is now."""
    before, after = dict(list_facts(prepared)), dict(list_facts(current))
    return [
        Change(label, before.get(label, ""), after.get(label, ""))
        for label in dict.fromkeys((*after, *before))
        if before.get(label) != after.get(label)
    ]
