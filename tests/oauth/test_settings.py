"""The toolkit underneath: nothing of its own is reachable, and nothing of it warns the operator."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.core import checks
from django.urls import get_resolver

from agent_access.audit import SYSTEM
from agent_access.connections import (
    ConnectionNotAllowedError,
    Consent,
    create_browser_connection,
)
from invoicing.administration.sign_ins import sign_out_everywhere
from tests.administration import acting
from tests.interface.refusals import nothing_changes


def test_the_toolkit_has_nothing_to_warn_of():
    found = checks.run_checks(include_deployment_checks=True)
    assert [each for each in found if str(each.id).startswith("oauth2_provider")] == []


def find_views(patterns: Iterable[Any]) -> Iterator[Any]:
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from find_views(pattern.url_patterns)
        else:
            yield pattern.callback


def test_no_view_of_the_toolkit_is_mounted():
    modules = {view.__module__ for view in find_views(get_resolver().url_patterns)}
    assert "agent_access.oauth.consent" in modules
    assert [name for name in modules if name.startswith("oauth2_provider")] == []


@pytest.mark.parametrize("is_owner", [True, False], ids=["signed out meanwhile", "not the owner"])
def test_nobody_but_the_owner_who_is_signed_in_approves_a_browser_connection(
    sign_in_on, owner, delegate, is_owner
):
    consent = Consent(
        user=delegate,
        scopes=["people:read"],
        days=1,
        name="Agent",
        client_id="x",
        client_host="client.example",
        approver=owner if is_owner else delegate,
    )
    sign_out_everywhere(acting(owner), owner.pk)
    refusal = pytest.raises(ConnectionNotAllowedError, match="Only the owner can approve")
    with nothing_changes(), refusal:
        create_browser_connection(consent, origin=SYSTEM)
