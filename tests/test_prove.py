"""`./dev prove` runs every part, keeps what each said, and fails if one of them does."""

from importlib.util import find_spec

import pytest

from config.environment import PROJECT_FOLDER
from tests import prove
from tests.prove import Part

pytestmark = pytest.mark.sqlite

SKIPPING = """
import pytest

@pytest.mark.skip(reason="there is no browser")
def test_nothing():
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(prove, "PROJECT_FOLDER", tmp_path)
    monkeypatch.setattr(prove, "FOLDER", tmp_path / "var" / "prove")
    monkeypatch.setattr(prove, "PICTURES", tmp_path / "var" / "prove" / "pictures")
    return tmp_path / "var" / "prove"


def test_a_part_that_fails_stops_no_other_and_fails_the_whole(folder, capsys):
    chosen = [Part("first, wrong", "it ends", ("no_such",)), Part("second", "it ends", ("this",))]

    assert prove.prove(chosen) == 1

    told = capsys.readouterr().out
    assert "1 of 2: first, wrong (it ends) ...\n    FAILED after" in told
    assert "2 of 2: second (it ends) ...\n    passed after" in told
    assert told.endswith("1 of 2 parts passed.\n")
    assert "No module named no_such" in (folder / "first-wrong.log").read_text(encoding="utf-8")
    assert "The Zen of Python" in (folder / "second.log").read_text(encoding="utf-8")


def test_what_a_part_skips_is_told(folder, capsys, tmp_path):
    (tmp_path / "test_nothing.py").write_text(SKIPPING, encoding="utf-8")

    tests = (*prove.PYTEST, "-p", "no:django", "test_nothing.py")

    assert prove.prove([Part("pages", "they read well", tests)]) == 0

    assert "\n    SKIPPED [1] test_nothing.py:4: there is no browser\n" in capsys.readouterr().out


def test_every_part_is_there_to_be_run():
    for module, *arguments in (part.command for part in prove.parts(minutes=1, seed=1)):
        found = find_spec(module)
        assert found, module
        assert not found.submodule_search_locations or find_spec(f"{module}.__main__"), module
        for path in (each for each in arguments if each.startswith("tests/")):
            assert (PROJECT_FOLDER / path).exists(), path


def test_a_part_is_chosen_by_its_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["prove", "--only", "weather"])

    with pytest.raises(SystemExit):
        prove.main()

    assert "The parts are: " in capsys.readouterr().err
