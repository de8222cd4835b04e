"""Settings as the file has them, where other tests replace them or the environment decides."""

import runpy

import pytest
from django.contrib.auth.hashers import get_hashers

import config.settings

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_a_password_is_kept_with_scrypt_alone(settings):
    settings.PASSWORD_HASHERS = config.settings.PASSWORD_HASHERS
    assert [hasher.algorithm for hasher in get_hashers()] == ["scrypt"]


def test_debug_is_off_whatever_the_environment_says(monkeypatch):
    monkeypatch.setenv("DEBUG", "true")
    assert runpy.run_path(config.settings.__file__)["DEBUG"] is False


@pytest.mark.parametrize(
    ("url", "seconds"),
    [
        ("https://localhost:8443", 0),
        ("https://127.0.0.1", 0),
        ("https://[::1]:8443", 0),
        ("https://invoices.example", 31_536_000),
        ("https://localhost.example", 31_536_000),
    ],
)
def test_only_a_loopback_host_goes_without_strict_transport(monkeypatch, url, seconds):
    monkeypatch.setenv("BASE_URL", url)
    assert runpy.run_path(config.settings.__file__)["SECURE_HSTS_SECONDS"] == seconds
