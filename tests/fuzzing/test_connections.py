"""Pasted credentials as a model has them: a call succeeds if, and only if, nothing ended it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from typing_extensions import override

from agent_access.connections import (
    ConnectionNotAllowedError,
    ConnectionRequest,
    create_connection,
    revoke_connection,
)
from agent_access.models import Connection
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access
from invoicing.access import Permission
from invoicing.administration.ownership import transfer_ownership_as_operator
from invoicing.administration.people import change_person, digest_person
from invoicing.administration.sign_ins import sign_out_everywhere
from invoicing.models import User
from tests.administration import acting
from tests.agents import HttpAgent
from tests.factories import UserFactory, grant, withdraw
from tests.fuzzing.effort import PLAYED
from tests.fuzzing.machines import Machine, run
from tests.mcp_agent import McpAgent

pytestmark = PLAYED

SCOPES = st.sampled_from([("customers:read",), ("customers:read", "people:read"), ("people:read",)])
PEOPLE = st.integers(0, 1)
WHICH = st.integers(0, 4)


@dataclass
class KnownConnection:
    """What the model knows of a connection; `reason` is why it ended before its time."""

    id: str
    credential: str
    person: int
    scopes: tuple[str, ...]
    expires_at: datetime
    reason: str = ""


@dataclass
class Person:
    """What the model knows of a delegate."""

    user: User
    is_active: bool = True
    is_guest: bool = False
    may_view: bool = True

    @property
    def is_fit(self) -> bool:
        return self.is_active and not self.is_guest


class Connections(Machine):
    @override
    def begin(self) -> None:
        self.owners = [self.owner, UserFactory.create()]
        self.people = [Person(self.make_delegate()), Person(self.make_delegate())]
        self.connections: list[KnownConnection] = []
        self.is_on = True
        self.create(0, ("customers:read",), 30)

    def end(self, reason: RevokedReason, *, person: int | None = None) -> None:
        """Write the reason to all connections, or a person's, that have none; expired ones too."""
        for each in self.connections:
            if person in {None, each.person}:
                each.reason = each.reason or reason.value

    @rule(person=PEOPLE, scopes=SCOPES, days=st.sampled_from([1, 30]))
    def create(self, person: int, scopes: tuple[str, ...], days: int) -> None:
        user = User.objects.get(pk=self.people[person].user.pk)
        request = ConnectionRequest(user=user, scopes=scopes, days=days, name="Machine")
        if not (self.is_on and self.people[person].is_fit):
            with pytest.raises(ConnectionNotAllowedError):
                create_connection(request)
            return
        connection, credential = create_connection(request)
        expires_at = self.now + timedelta(days=days)
        self.connections.append(
            KnownConnection(str(connection.id), credential, person, scopes, expires_at)
        )

    @rule(which=WHICH)
    def revoke(self, which: int) -> None:
        known = self.connections[which % len(self.connections)]
        reason = RevokedReason.OWNER_REVOKED
        connection = Connection.objects.get(pk=known.id)
        was_live = known.reason == "" and self.now < known.expires_at
        assert revoke_connection(connection.id, reason=reason) == was_live
        known.reason = known.reason or reason.value

    @rule()
    def turn_off(self) -> None:
        turn_access(on=False)
        self.is_on = False
        self.end(RevokedReason.ACCESS_OFF)

    @precondition(lambda self: not self.is_on)
    @rule()
    def turn_on(self) -> None:
        """Bring the agents back, and none of the connections."""
        turn_access(on=True)
        self.is_on = True

    @rule(time=st.sampled_from([timedelta(hours=23, minutes=59), timedelta(days=1)]))
    def pass_time(self, time: timedelta) -> None:
        self.wait(time)

    @rule(person=PEOPLE)
    def turn_activity(self, person: int) -> None:
        found = self.people[person]
        found.is_active = not found.is_active
        self.change(found, is_active=found.is_active)
        if not found.is_active:
            self.end(RevokedReason.USER_DEACTIVATED, person=person)

    @rule(person=PEOPLE)
    def turn_guest(self, person: int) -> None:
        found = self.people[person]
        found.is_guest = not found.is_guest
        self.change(found, is_guest=found.is_guest)
        if found.is_guest:
            self.end(RevokedReason.USER_BECAME_GUEST, person=person)

    def change(self, person: Person, **flags: bool) -> None:
        by = acting(User.objects.get(pk=self.owners[0].pk))
        user = User.objects.get(pk=person.user.pk)
        change_person(by, user.pk, flags, seen=digest_person(user))

    @rule(person=PEOPLE)
    def end_sessions(self, person: int) -> None:
        user = User.objects.get(pk=self.people[person].user.pk)
        by = acting(User.objects.get(pk=self.owners[0].pk))
        sign_out_everywhere(by, user.pk)
        self.end(RevokedReason.SESSIONS_ENDED, person=person)

    @rule()
    def transfer(self) -> None:
        self.owners.reverse()
        transfer_ownership_as_operator(self.owners[0].pk)
        self.end(RevokedReason.OWNER_CHANGED)

    @rule(person=PEOPLE)
    def turn_permission(self, person: int) -> None:
        """Losing a permission ends nothing; it is read on every call."""
        found = self.people[person]
        (withdraw if found.may_view else grant)(found.user, Permission.VIEW_CUSTOMER)
        found.may_view = not found.may_view

    def expected(self, known: KnownConnection) -> int:
        if not self.is_on:
            return 404
        if known.reason or self.now >= known.expires_at:
            return 401
        may = "customers:read" in known.scopes and self.people[known.person].may_view
        return 200 if may else 403

    @invariant()
    def a_call_succeeds_if_and_only_if_nothing_ended_its_connection(self) -> None:
        for known in self.connections:
            for agent in (HttpAgent(known.credential), McpAgent(known.credential)):
                assert agent.call("customers.search").status == self.expected(known)

    @invariant()
    def an_ended_connection_says_why(self) -> None:
        told = Connection.objects.values_list("id", "revoked_reason")
        assert {str(id_): reason for id_, reason in told} == {
            known.id: known.reason for known in self.connections
        }


@pytest.mark.django_db
@pytest.mark.requirement("revocation.stops_calls", "revocation.other_endings")
def test_connections_are_what_a_model_of_them_is():
    run(Connections, examples=6, steps=12)
