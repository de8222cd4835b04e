"""Settings that every other test replaces, as the file has them."""

import pytest
from django.contrib.auth.hashers import get_hashers

import config.settings

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_a_password_is_kept_with_scrypt_alone(settings):
    settings.PASSWORD_HASHERS = config.settings.PASSWORD_HASHERS
    assert [hasher.algorithm for hasher in get_hashers()] == ["scrypt"]
