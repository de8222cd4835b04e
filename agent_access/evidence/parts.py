"""What goes into a package of evidence: each part is one file, a JSON object on every line."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured

__all__ = ["Part", "Rows", "parts"]

NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")

# Yields JSON values by name (UUIDs and times too), in the order of their IDs, as the database is in
# the transaction in which it is called.
Rows = Callable[[], Iterator[Mapping[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A file of the package, without its ending `.jsonl`, and what its lines hold.

    The lines of a `numbered` part are records that bear the numbers of a series. Each has an `id`,
    a `content` and the `digest` of that: canonical JSON of an object with `id`, `number`,
    `series`, `value` (the place in the series), `made_at`, and `facts`. The facts are those that a
    person approved or signed, less those whose dotted paths are `unfrozen`, where * stands for each
    of a list. An audit event keeps the digest: that of the call by which an agent made the record,
    or an act of a person whose action is one of `acts`.
    """

    name: str
    rows: Rows
    is_numbered: bool = False
    unfrozen: tuple[str, ...] = ()
    acts: tuple[str, ...] = ()


class PartRegistry:
    """The parts of a project, by name."""

    def __init__(self) -> None:
        self._parts: dict[str, Part] = {}

    def register(self, *added: Part) -> None:
        """Add parts; raises ImproperlyConfigured for a name that is taken, or is none."""
        for part in added:
            if not NAME.fullmatch(part.name) or part.name in self._parts:
                raise ImproperlyConfigured(f"{part.name!r} is taken, or no name of a part")
            self._parts[part.name] = part

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())


parts = PartRegistry()
