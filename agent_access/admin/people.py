"""Finding people without knowing the project's model of them."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import CharField, Q, QuerySet


def text_fields() -> list[str]:
    """Return the names of the required fields of every user that are texts."""
    model = get_user_model()
    fields = {field.name: field for field in model._meta.get_fields()}
    names = [model.USERNAME_FIELD, *model.REQUIRED_FIELDS]
    return [name for name in names if isinstance(fields[name], CharField)]


def find_people(word: str) -> QuerySet[Any]:
    """Return the users with the word in one of `text_fields`."""
    condition = Q()
    for name in text_fields():
        condition |= Q(**{f"{name}__icontains": word})
    return _people().filter(condition)


def names_of(ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the users' names by ID, in one query."""
    return {pk: str(user) for pk, user in _people().in_bulk(ids).items()}


def _people() -> QuerySet[Any]:
    return get_user_model()._default_manager.all()  # noqa: SLF001  Django's public name for a swapped model's manager
