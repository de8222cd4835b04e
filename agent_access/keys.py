"""Keys of users and records as the columns of this app keep them, whatever the project's own are.

A UUID is kept as it is, and an integer as the UUID of that number, which can be told back.
"""

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import IntegerField, UUIDField

# As large as a database's integers are.
MAX_NUMBER = 2**63 - 1

Key = UUID | int


def to_key(pk: Any) -> Any:
    """Return the UUID that stands for a primary key, a UUID or an integer; None for none."""
    return UUID(int=pk) if isinstance(pk, int) else pk


def from_key(key: UUID | None, kind: type[Key]) -> Any:
    """Return the primary key of this kind for which the UUID stands, or None for one of none."""
    if key is None or kind is UUID:
        return key
    return key.int if key.int <= MAX_NUMBER else None


def read_number(text: str) -> int:
    """Return the number of a record as it stands in an address; raise ValueError for another text.

    Each number has one spelling.
    """
    if not (text.isascii() and text.isdecimal()) or text.startswith("0"):
        raise ValueError("not a number of a record")
    if (number := int(text[:20])) > MAX_NUMBER:
        raise ValueError("larger than any number of a record")
    return number


def kind_of_key(field: Any) -> type[Key] | None:
    """Return whether a field of a model holds UUIDs or integers, or None for anything else."""
    while field.remote_field:  # the records are a table beside another one
        field = field.target_field
    kinds = {UUIDField: UUID, IntegerField: int}
    return next((kind for of, kind in kinds.items() if isinstance(field, of)), None)


def user_key_kind() -> type[Key] | None:
    """Return whether the project's users have UUIDs or integers, or None for anything else."""
    return kind_of_key(get_user_model()._meta.pk)
