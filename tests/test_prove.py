"""`./dev prove` runs every part, keeps what each said, and fails if one of them does."""

import pytest

from tests import prove
from tests.prove import Part

pytestmark = pytest.mark.sqlite


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


def test_a_part_is_chosen_by_its_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["prove", "--only", "weather"])

    with pytest.raises(SystemExit):
        prove.main()

    assert "The parts are: " in capsys.readouterr().err
