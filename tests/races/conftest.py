"""The stage of the matrix, set once for each test."""

from collections.abc import Iterator

import pytest

from tests.races.interleaving import Interleaving
from tests.races.staging import as_staged, set_stage


@pytest.fixture
def interleaving(transactional_db: None) -> Iterator[Interleaving]:
    with as_staged():
        made = Interleaving(set_stage())
        yield made
        made.end()
