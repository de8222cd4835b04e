"""Facts: what is shown to a person, compared, and fingerprinted, as JSON values."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

# Nested dictionaries and lists.
Facts = dict[str, Any]
UNSET = (None, "")


def canonical_json(facts: Facts) -> str:
    """Return the facts as canonical JSON: sorted keys, no white space."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint_of(canonical: str) -> str:
    """Return the SHA-256 of canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical.encode()).hexdigest()


def fingerprint_facts(facts: Facts) -> str:
    """Return the fingerprint of facts, and so of all that they say."""
    return fingerprint_of(canonical_json(facts))


def find_differences(prepared: Any, current: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted paths that differ, such as `entries.0.title`, in their order.

    A fact that is left out and an empty text are the same.
    """
    if prepared == current or (prepared in UNSET and current in UNSET):
        return
    if isinstance(prepared, dict) and isinstance(current, dict):
        for key in dict.fromkeys((*current, *prepared)):
            yield from find_differences(prepared.get(key), current.get(key), f"{path}.{key}")
    elif isinstance(prepared, list) and isinstance(current, list):
        for index in range(max(len(prepared), len(current))):
            before = prepared[index] if index < len(prepared) else None
            after = current[index] if index < len(current) else None
            yield from find_differences(before, after, f"{path}.{index}")
    else:
        yield path.removeprefix(".")
