"""Every index slows each write of its table: none repeats the beginning of another."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db.models import UniqueConstraint

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

OUR_MODELS = [
    *apps.get_app_config("agent_access").get_models(),
    *apps.get_app_config("agent_telling").get_models(),
    *apps.get_app_config("invoices").get_models(),
]


def plain_indexes(model) -> Iterator[tuple[str, ...]]:
    """Yield the fields of each index of fields that is neither unique nor partial."""
    fields = model._meta.local_fields
    yield from ((field.name,) for field in fields if field.db_index and not field.unique)
    yield from (
        tuple(each.fields) for each in model._meta.indexes if each.fields and not each.condition
    )


def unique_indexes(model) -> Iterator[tuple[str, ...]]:
    """Yield the fields of each index that is unique and not partial."""
    yield from ((field.name,) for field in model._meta.local_fields if field.unique)
    for constraint in model._meta.constraints:
        if isinstance(constraint, UniqueConstraint) and not constraint.condition:
            yield tuple(constraint.fields)


@pytest.mark.parametrize("model", OUR_MODELS, ids=lambda model: model.__name__)
def test_no_index_is_the_beginning_of_another(model) -> None:
    plain = list(plain_indexes(model))
    needless = [
        one
        for position, one in enumerate(plain)
        for other in (*plain[:position], *plain[position + 1 :], *unique_indexes(model))
        if other[: len(one)] == one
    ]
    assert needless == []
