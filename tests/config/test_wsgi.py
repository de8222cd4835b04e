"""A server that must not serve ends with one sentence."""

import json
import os
import subprocess
import sys

import pytest

from config.environment import PROJECT_FOLDER

GATE_FIRST = (
    "The gate must be the first middleware."
    " Put agent_access.gate.GateMiddleware at the beginning of MIDDLEWARE."
)
FOLDER = (
    "PROMETHEUS_MULTIPROC_DIR must name a folder that is there or can be made, and that this"
    " account may write."
)
UNSAFE = """
from django.conf import settings
import config.settings
config.settings.MIDDLEWARE.reverse()
import config.wsgi
"""


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("program", "environment", "sentence"),
    [
        (
            "import config.wsgi",
            {"BASE_URL": "http://invoices.example"},
            "BASE_URL must be https, a host and perhaps a port, such as https://invoices.example.",
        ),
        (
            UNSAFE,
            {},
            GATE_FIRST,
        ),
        (
            "import config.wsgi",
            {
                "BASE_URL": "https://localhost",
                "METRICS_ADDRESS": "127.0.0.1:9100",
                "PROMETHEUS_MULTIPROC_DIR": "/nowhere/metrics",
            },
            FOLDER,
        ),
    ],
    ids=["a wrong setting", "no gate", "no folder for metrics"],
)
def test_a_server_with_a_wrong_setting_does_not_start(program, environment, sentence):
    told = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-c", program],
        cwd=PROJECT_FOLDER,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stdout, told.stderr) == (1, "", f"Wrong setting: {sentence}\n")


BROKEN_VIEWS = """
from django.conf import settings
import config.settings
config.settings.ROOT_URLCONF = "nowhere"
import config.wsgi
"""


@pytest.mark.sqlite
def test_a_mistake_of_ours_at_the_start_is_a_line_of_the_log():
    told = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-c", BROKEN_VIEWS],
        cwd=PROJECT_FOLDER,
        env={**os.environ, "BASE_URL": "https://localhost", "LOG_FORMAT": "json"},
        capture_output=True,
        text=True,
        check=False,
    )
    [line] = map(json.loads, told.stderr.splitlines())
    assert (told.returncode, line["level"]) == (1, "CRITICAL")
    assert line["message"] == "The service does not start."
    assert line["trace"].endswith("ModuleNotFoundError: No module named 'nowhere'")


LOADED = """
import sys
import django
django.setup()
import config.urls
print([name for name in ("mcp_types", "oauth2_provider.oauth2_backends") if name in sys.modules])
"""


@pytest.mark.sqlite
def test_neither_the_types_of_mcp_nor_the_engine_of_sign_in_is_waited_for():
    told = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-c", LOADED],
        cwd=PROJECT_FOLDER,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stdout) == (0, "[]\n")
