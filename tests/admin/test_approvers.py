"""Where several people approve connections, each finds their own, and nobody else's."""

from collections.abc import Iterator

import pytest

from agent_access import callers
from agent_access.connections import ConnectionRequest, create_connection
from agent_access.models import Connection
from tests.agent_access.test_policy import EachTheirOwn

LIST = "/admin/agent_access/connection/"
FOR_ADMINISTRATORS = [
    "/admin/agent_access/accesssettings/",
    "/admin/agent_access/accesssettings/access/",
    "/admin/agent_access/auditevent/",
    "/admin/agent_access/receipt/",
    "/admin/agent_oauth/application/",
]


@pytest.fixture(autouse=True)
def _each_their_own(access_on, settings) -> Iterator[None]:
    policy = f"{EachTheirOwn.__module__}.{EachTheirOwn.__name__}"
    settings.AGENT_ACCESS |= {"POLICY": policy}
    callers.forget_statements()
    yield
    callers.forget_statements()


@pytest.fixture
def approve(delegate, colleague):
    def make(user, name: str) -> Connection:
        asked = ConnectionRequest(
            user=user, scopes=["people:read"], days=1, name=name, approver=user
        )
        return create_connection(asked)[0]

    return make


def test_somebody_who_approves_finds_their_own_connections(sign_in, approve, delegate, colleague):
    own, other = approve(delegate, "Own agent"), approve(colleague, "Other agent")
    desk = sign_in(delegate)
    page = desk.get(LIST).content.decode()
    assert "Own agent" in page
    assert "Other agent" not in page
    assert desk.get(f"{LIST}{own.pk}/").status_code == 200
    assert desk.get(f"{LIST}{other.pk}/").status_code == 404


def test_somebody_who_approves_ends_no_connection_of_others(sign_in, approve, delegate, colleague):
    own, other = approve(delegate, "Own agent"), approve(colleague, "Other agent")
    desk = sign_in(delegate)
    desk.post(f"{LIST}revoke/", {"id": [str(own.pk), str(other.pk)]})
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.revoked_at is not None, other.revoked_at) == (True, None)


@pytest.mark.parametrize("path", FOR_ADMINISTRATORS)
def test_somebody_who_only_approves_administers_nothing(sign_in, delegate, path):
    assert sign_in(delegate).get(path).status_code == 403


def test_an_administrator_finds_every_connection(sign_in, approve, superuser, delegate):
    other = approve(delegate, "Other agent")
    desk = sign_in(superuser)
    assert "Other agent" in desk.get(LIST).content.decode()
    desk.post(f"{LIST}revoke/", {"id": [str(other.pk)]})
    other.refresh_from_db()
    assert other.revoked_at is not None


def test_the_form_of_a_new_connection_offers_whom_the_approver_may_connect(
    sign_in, delegate, colleague
):
    page = sign_in(delegate).get(f"{LIST}add/").content.decode()
    assert str(delegate.pk) in page
    assert str(colleague.pk) not in page
