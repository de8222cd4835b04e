import re
import stat
from unittest.mock import Mock

import pytest

from invoicing.quickstart import settings_file
from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.settings_file import prepare_settings

KEPT = (
    "BASE_URL=https://localhost:8443\nSECRET_KEY=a-key-that-was-kept-before-0123456789\n"
    "WEB_PUSH_KEY=another-key-that-was-kept\n"
)


@pytest.fixture(autouse=True)
def _no_base_url_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BASE_URL")


@pytest.fixture(autouse=True)
def _every_port_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that a developer runs beside the tests may have the one that is asked for."""
    monkeypatch.setattr(settings_file, "require_free_port", Mock())


@pytest.fixture
def file(tmp_path):
    return tmp_path / "var" / "quickstart.env"


def test_a_first_start_makes_an_address_and_a_key_that_nobody_else_reads(file):
    prepare_settings(file, [])

    lines = file.read_text().splitlines()
    assert lines[0] == "BASE_URL=https://localhost:8443"
    assert re.fullmatch(r"SECRET_KEY=[A-Za-z0-9_-]{64}", lines[1])
    assert re.fullmatch(r"WEB_PUSH_KEY=[A-Za-z0-9_-]{43}", lines[2])
    assert len(lines) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["quickstart.env"]


def test_two_installations_have_different_keys(tmp_path):
    texts = set()
    for name in ("one", "two"):
        file = tmp_path / name / "quickstart.env"
        prepare_settings(file, [])
        texts.add(file.read_text())

    assert len(texts) == 2


def test_a_folder_that_others_could_read_is_closed(file):
    file.parent.mkdir(mode=0o755)

    prepare_settings(file, [])

    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("arguments", [[], ["--port", "8443"], ["--port=8443"], ["--verbosity=0"]])
def test_a_second_start_keeps_the_file(file, arguments):
    file.parent.mkdir()
    file.write_text(KEPT)

    prepare_settings(file, arguments)

    assert file.read_text() == KEPT


@pytest.mark.parametrize("arguments", [["--port", "9000"], ["--password", "x", "--port=9000"]])
def test_another_port_changes_the_address_and_nothing_else(file, arguments):
    file.parent.mkdir()
    file.write_text(f"{KEPT}LIMIT_PER_ADDRESS=600\n")

    prepare_settings(file, arguments)

    assert file.read_text().splitlines() == [
        "SECRET_KEY=a-key-that-was-kept-before-0123456789",
        "WEB_PUSH_KEY=another-key-that-was-kept",
        "LIMIT_PER_ADDRESS=600",
        "BASE_URL=https://localhost:9000",
    ]


def test_an_address_in_the_environment_goes_first_and_the_file_stays(file, monkeypatch):
    monkeypatch.setenv("BASE_URL", "https://localhost:7000")
    file.parent.mkdir()
    file.write_text(KEPT)

    prepare_settings(file, ["--port", "9000"])

    assert file.read_text() == KEPT


@pytest.mark.parametrize("port", ["0", "65536", "-1", "web", "1.5", "", "٣", "9" * 5000])
def test_a_port_that_is_none_is_refused_in_a_sentence(file, port):
    with pytest.raises(QuickstartError) as refused:
        prepare_settings(file, [f"--port={port}"])

    assert str(refused.value) == "--port takes a number from 1 to 65535."
    assert not file.parent.exists()


def test_a_port_without_a_number_is_refused_in_a_sentence(file):
    with pytest.raises(QuickstartError, match="--port takes a number"):
        prepare_settings(file, ["--port"])


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(file):
    file.parent.touch()

    with pytest.raises(QuickstartError) as refused:
        prepare_settings(file, [])

    assert str(refused.value) == f"{file} cannot be kept: File exists."


def test_a_file_that_is_no_text_is_told_in_a_sentence(file):
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe")

    with pytest.raises(QuickstartError) as refused:
        prepare_settings(file, [])

    assert str(refused.value) == f"{file} cannot be kept: it is no text."
    assert file.read_bytes() == b"\xff\xfe"
