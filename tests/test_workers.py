import pytest

from config.environment import PROJECT_FOLDER
from tests.workers import GROUPS

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_a_worker_gets_all_of_a_place_and_else_one_test(pytestconfig, monkeypatch):
    assert [group for group in GROUPS if not (PROJECT_FOLDER / group).exists()] == []
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"])
    # As xdist asks for who gives a run to its workers.
    workers = pytestconfig.hook.pytest_xdist_make_scheduler(config=pytestconfig, log=None)
    collected = [f"tests/{path}.py::test" for path in ("web/test_a", "kill/test_b", "kill/test_c")]
    scopes = [workers._split_scope(each) for each in collected]
    assert scopes == [collected[0], "tests/kill/", "tests/kill/"]
