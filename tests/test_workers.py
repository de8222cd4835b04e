import pytest

from config.environment import PROJECT_FOLDER
from tests.workers import GROUPS

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_is_there(group):
    assert (PROJECT_FOLDER / group).exists()


@pytest.fixture
def workers(pytestconfig, monkeypatch):
    """Who gives a run to its workers, as xdist asks for it."""
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"])
    return pytestconfig.hook.pytest_xdist_make_scheduler(config=pytestconfig, log=None)


def test_a_worker_gets_all_of_a_place_and_else_one_test(workers):
    collected = [f"tests/{path}.py::test" for path in ("web/test_a", "kill/test_b", "kill/test_c")]
    scopes = [workers._split_scope(each) for each in collected]
    assert scopes == [collected[0], "tests/kill/", "tests/kill/"]
