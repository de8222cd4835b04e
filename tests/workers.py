"""Groups of tests that xdist runs in one worker."""

from typing import Any

import pytest
from typing_extensions import override
from xdist.scheduler import LoadScopeScheduling

# The servers of these tests take long to start; in one worker each starts once. xdist schedules the
# groups with most tests first, so that none of them is left for the end, nor is a file that is
# named here because its tests themselves take long.
#
# xdist has a mark for this, but with pytest 9.2 it silently has no effect.
GROUPS = (
    "tests/breaking/",
    "tests/browser/",
    "tests/fuzzing/",
    "tests/invoicing/e_invoices/",
    "tests/kill/",
    "tests/mcp_clients/",
    "tests/operations/test_image.py",
    "tests/operations/test_mistakes.py",
    "tests/hosts/",
    "tests/quickstart/test_quickstart.py",
    "tests/releases/",
    "tests/servers/",
    "tests/web/test_new_field.py",
)


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives all tests of a group to one worker, and other tests one by one."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return next((group for group in GROUPS if nodeid.startswith(group)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    return GroupScheduling(config, log)
