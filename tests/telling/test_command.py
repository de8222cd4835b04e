"""`manage.py deliver` as an operator runs it: a process that SIGTERM ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trustme
from django.conf import settings as ours

from agent_access.telling.devices import add_device
from config.environment import PROJECT_FOLDER
from tests.https_server import url_of_database
from tests.telling.push_service import WEB_PUSH_KEY, PushBrowser, run_push_service
from tests.telling.questions import ask

SETTINGS = "tests.telling.settings"


@pytest.mark.django_db(transaction=True)
def test_it_tells_people_until_sigterm_ends_it(delegate, push_on, tmp_path: Path):
    authority = trustme.CA()
    trusted = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(trusted)
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        "DATABASE_URL": url_of_database(),
        "SECRET_KEY": ours.SECRET_KEY,
        "WEB_PUSH_KEY": WEB_PUSH_KEY,
        "SSL_CERT_FILE": str(trusted),
    }
    with run_push_service(authority, host="localhost") as service:
        browser = PushBrowser(service)
        add_device(delegate, browser.subscription, name="Firefox")
        pk = ask(delegate)
        with subprocess.Popen(
            [sys.executable, "manage.py", "deliver"], cwd=PROJECT_FOLDER, env=environment
        ) as process:
            try:
                until = time.monotonic() + 60
                while not browser.read() and time.monotonic() < until:
                    time.sleep(0.05)
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0
            finally:
                process.kill()
    assert [each["path"] for each in browser.read()] == [f"/riddles/{pk}"]
