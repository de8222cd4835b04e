"""Every index slows each write of its table; no table has two that serve the same look-ups."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db.models import Model, UniqueConstraint

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

OUR_MODELS = [
    model
    for label in ("agent_access", "invoices")
    for model in apps.get_app_config(label).models.values()
]


def plain_indexes(model: type[Model]) -> Iterator[tuple[str, ...]]:
    """Yield the fields of each index that is neither unique nor partial."""
    yield from ((field.name,) for field in model._meta.local_fields if is_plain(field))
    yield from (tuple(each.fields) for each in model._meta.indexes if not each.condition)


def is_plain(field) -> bool:
    return field.db_index and not field.unique


def unique_indexes(model: type[Model]) -> Iterator[tuple[str, ...]]:
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
