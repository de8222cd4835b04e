"""Finding people without knowing the project's model of them."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import CharField, Q, QuerySet

from agent_access import approvers
from agent_access.keys import to_key, user_key_kind

PEOPLE_SEARCHED = 500


def text_fields() -> list[str]:
    """Return the names of the required fields of every user that are texts."""
    model = get_user_model()
    fields = {field.name: field for field in model._meta.get_fields()}
    names = [model.USERNAME_FIELD, *model.REQUIRED_FIELDS]
    return [name for name in names if isinstance(fields[name], CharField)]


def find_keys(word: str) -> QuerySet[Any] | list[UUID | None]:
    """Return the keys of the users with the word in one of `text_fields`.

    Of UUIDs the query itself, and of integers, which the columns keep otherwise, the first few.
    """
    condition = Q(pk__in=())  # without such a field nobody is found
    for name in text_fields():
        condition |= Q(**{f"{name}__icontains": word})
    people = get_user_model()._default_manager.filter(condition)  # noqa: SLF001  Django's public name for a swapped model's manager
    pks = people.values_list("pk", flat=True)
    return pks if user_key_kind() is UUID else [to_key(pk) for pk in pks[:PEOPLE_SEARCHED]]


def names_of(ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the users' names by key, in one query."""
    return {key: str(user) for key, user in approvers.find_people(ids).items()}
