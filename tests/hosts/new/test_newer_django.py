"""Signing in and calling tools with the newer versions of Django."""

import pytest

from tests.hosts import environments
from tests.hosts.new import test_sign_in

SETTINGS = test_sign_in.SETTINGS

pytestmark = [
    pytest.mark.sqlite,  # what the two apps do on both databases is asked by their own tests
    pytest.mark.prove,
    pytest.mark.parametrize("base", environments.VERSIONS, indirect=True, scope="module"),
]


def test_a_client_is_let_in_and_calls_tools(project):
    test_sign_in.test_the_owner_of_another_project_lets_a_client_in(project)
