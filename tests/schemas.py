"""What stands in a JSON Schema, however deep."""

from collections.abc import Iterator
from typing import Any


def objects_within(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a document of JSON, itself included: in a schema, all its schemas."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from objects_within(inner)
