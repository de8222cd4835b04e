"""Walks through JSON Schemas."""

from collections.abc import Iterator
from typing import Any


def objects_within(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a JSON value, itself included; of a schema, all its subschemas."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from objects_within(inner)
