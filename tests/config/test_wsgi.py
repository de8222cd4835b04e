"""A server that must not serve ends with one sentence."""

import json

import pytest

from tests.programs import run_python

GATE_FIRST = (
    "The gate must be the first middleware."
    " Put agent_access.gate.GateMiddleware at the beginning of MIDDLEWARE."
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
    ],
    ids=["a wrong setting", "no gate"],
)
def test_a_server_with_a_wrong_setting_does_not_start(program, environment, sentence):
    told = run_python("-c", program, settings=environment)
    assert (told.returncode, told.stdout, told.stderr) == (1, "", f"Wrong setting: {sentence}\n")


BROKEN_VIEWS = """
from django.conf import settings
import config.settings
config.settings.ROOT_URLCONF = "nowhere"
import config.wsgi
"""


@pytest.mark.sqlite
def test_a_mistake_of_ours_at_the_start_is_a_line_of_the_log():
    settings = {"BASE_URL": "https://localhost", "LOG_FORMAT": "json"}
    told = run_python("-c", BROKEN_VIEWS, settings=settings)
    [line] = map(json.loads, told.stderr.splitlines())
    assert (told.returncode, line["level"]) == (1, "CRITICAL")
    assert line["message"] == "The service does not start."
    assert line["trace"].endswith("ModuleNotFoundError: No module named 'nowhere'")


LOADED = """
import sys
import django
django.setup()
import config.operations.request_log
import config.urls
rarely_used = ("mcp_types", "oauth2_provider.oauth2_backends", "opentelemetry")
print([name for name in rarely_used if name in sys.modules])
"""


@pytest.mark.sqlite
def test_neither_the_types_of_mcp_nor_the_engine_of_sign_in_nor_opentelemetry_is_waited_for():
    told = run_python("-c", LOADED, settings={"DJANGO_SETTINGS_MODULE": "config.settings"})
    assert (told.returncode, told.stdout) == (0, "[]\n")
