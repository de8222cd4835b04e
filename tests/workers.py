"""Which tests run in one worker, where several share the work."""

from typing import Any

import pytest
from typing_extensions import override
from xdist.scheduler import LoadScopeScheduling

# What these tests serve takes long to start: in one worker it is started once. Places with most
# tests come first, so that no worker is left alone with one of them at the end.
#
# xdist has a mark for this, which pytest 9.2 makes it ignore without a word.
PLACES = (
    "tests/breaking/",
    "tests/browser/",
    "tests/fuzzing/",
    "tests/kill/",
    "tests/mcp_clients/",
    "tests/operations/test_image.py",
    "tests/other_project/",
    "tests/servers/",
)


class PlaceByPlace(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives a worker all tests of such a place, and else one test after the other."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return next((place for place in PLACES if nodeid.startswith(place)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> PlaceByPlace:
    return PlaceByPlace(config, log)
