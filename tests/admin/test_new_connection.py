"""A new connection: whom it acts for, what it may, and a credential that is shown once."""

import json
import logging
import re
from datetime import timedelta
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import unquote

import pytest
import time_machine
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core import signing
from django.utils import timezone

from agent_access.connections import INVALID_NAME
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import ADMINISTRATION
from agent_access.switches import turn_access
from invoicing.access import Permission
from invoicing.models import Company
from invoicing.quickstart.first_steps import FirstSteps
from tests.agents import HOST, HttpAgent
from tests.factories import UserFactory, withdraw
from tests.snapshots import take_snapshot
from tests.threads import run_together
from tests.tool_table import SCOPES
from tests.web.forms import main_of, read_form

pytestmark = pytest.mark.django_db

ADD = "/admin/agent_access/connection/add/"
UNKNOWN = "0190f1f0-0000-7000-8000-000000000000"


@pytest.fixture
def filled(owner_desk, access_on, delegate):
    """A form as the page gave it, filled in."""
    form = read_form(owner_desk.get(ADD))
    chosen = {
        "name": "Ledger agent",
        "acts_as": str(delegate.id),
        "scopes": ["customers:read", "people:read"],
        "expires_in_days": "7",
    }
    return form | chosen


def credential_in(answer):
    found = answer.content.decode().split('value="ivc_')[1:]
    return [f"ivc_{text[:43]}" for text in found]


@pytest.mark.requirement("authentication.owner_creates_connections", "access.owner_decides")
def test_the_owner_makes_a_connection(owner_desk, owner, delegate, filled):
    answer = owner_desk.post(ADD, filled)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    [credential] = credential_in(answer)
    assert all(f"https://{HOST}{path}" in main_of(answer) for path in ("/mcp", "/api/v1"))
    assert HttpAgent(credential).call("customers.search").status == 200
    assert HttpAgent(credential).call("documents.list").status == 403
    made = Connection.objects.get()
    assert (made.name, made.user, made.owner_id) == ("Ledger agent", delegate, owner.id)
    assert made.grants == ["customers:read", "people:read"]
    assert made.expires_at - made.created_at == timedelta(days=7)
    event = AuditEvent.objects.get(action="connection:created")
    assert event.chain == ADMINISTRATION
    assert (event.actor_id, event.connection_id) == (owner.id, made.id)
    assert (event.transport, event.client_address) == ("web", "127.0.0.1")
    assert event.request_id == answer["X-Request-Id"]


def test_the_owner_gets_the_first_walk_as_far_as_the_grants_reach(owner_desk, filled):
    answer = owner_desk.post(ADD, filled)
    [credential] = credential_in(answer)
    steps = FirstSteps(
        base_url=f"https://{HOST}", credential=credential, grants=filled["scopes"], authority=None
    )
    shown = re.findall(r"<textarea[^>]*>(.*?)</textarea>", answer.content.decode(), re.DOTALL)
    opening = f"CREDENTIAL={credential}\n"
    assert [unescape(text) for text in shown] == [
        opening + steps.write(),
        opening + steps.write_for_mcp(),
    ]
    assert "customers?limit=1" in steps.write()
    assert "documents" not in steps.write()


def test_the_owner_learns_at_once_what_the_person_has_no_permission_for(
    owner_desk, delegate, filled
):
    withdraw(delegate, Permission.VIEW_CUSTOMER)
    page = main_of(owner_desk.post(ADD, filled))
    assert (
        "Dana Delegate currently has no permission for customers.search: such calls are"
        " refused." in page
    )
    assert page.count("no permission") == 1


def test_the_form_chooses_nobody_and_leaves_issuing_alone(owner_desk, access_on, delegate):
    page = main_of(owner_desk.get(ADD))
    assert page.count("selected") == 1
    assert '<option value="" selected>Choose a person</option>' in page
    boxes = re.findall(
        r'<input type="checkbox" name="scopes" value="([^"]+)"[^>]*?( checked)?>', page
    )
    assert [scope for scope, _ in boxes] == list(SCOPES)
    assert [scope for scope, ticked in boxes if not ticked] == ["invoices:execute"]


def test_only_those_who_may_be_acted_for_are_offered(owner_desk, access_on, delegate):
    others = [UserFactory.create(is_guest=True), UserFactory.create(is_active=False)]
    page = main_of(owner_desk.get(ADD))
    assert str(delegate.id) in page
    assert not [each for each in others if str(each.id) in page]


SIGNED_FOR_ANOTHER = signing.dumps(UNKNOWN, salt="another")
UNFIT: tuple[tuple[dict[str, Any], str], ...] = (
    ({"name": ""}, "Give it a name by which you will know it."),
    ({"name": "a\u202eb"}, INVALID_NAME),
    ({"name": "a\x00b"}, "Null characters are not allowed."),
    ({"name": "a" * 101}, "Ensure this value has at most 100 characters"),
    ({"acts_as": ""}, "Choose the person whom the agent acts for."),
    ({"acts_as": UNKNOWN}, "That choice is not one of the available choices."),
    ({"acts_as": "x"}, "is not a valid UUID."),
    ({"scopes": []}, "Choose at least one."),
    ({"scopes": ["customers:write"]}, "customers:write is not one of the available choices."),
    ({"scopes": ["customers.search"]}, "customers.search is not one of the available choices."),
    ({"expires_in_days": "0"}, "Choose 1 to 30 days."),
    ({"expires_in_days": "31"}, "Choose 1 to 30 days."),
    ({"expires_in_days": "1.5"}, "Choose 1 to 30 days."),
    ({"expires_in_days": ""}, "Choose 1 to 30 days."),
    ({"once": ""}, "This form is too old. Please open it again."),
    ({"once": UNKNOWN}, "This form is too old. Please open it again."),
    ({"once": SIGNED_FOR_ANOTHER}, "This form is too old. Please open it again."),
)


def test_what_does_not_fit_is_named_and_makes_nothing(owner_desk, filled, subtests):
    before = take_snapshot()
    for changes, sentence in UNFIT:
        with subtests.test(changes=repr(changes)[:60]):
            answer = owner_desk.post(ADD, filled | changes)
            assert answer.status_code == 422
            assert sentence in main_of(answer)
            assert credential_in(answer) == []
    assert take_snapshot() == before


@pytest.mark.parametrize("fact", ["is_guest", "is_active"])
def test_who_may_no_longer_be_acted_for_is_refused(owner_desk, filled, delegate, fact):
    type(delegate).objects.filter(pk=delegate.pk).update(**{fact: fact == "is_guest"})
    answer = owner_desk.post(ADD, filled)
    assert answer.status_code == 422
    assert not Connection.objects.exists()


def test_without_access_the_page_says_what_to_do_first(owner_desk, filled):
    turn_access(on=False)
    assert "Agent access is off." in main_of(owner_desk.get(ADD))
    answer = owner_desk.post(ADD, filled)
    assert answer.status_code == 422
    assert "Agent access is off; the owner must turn it on first." in main_of(answer)
    assert not Connection.objects.exists()


def test_a_form_that_was_refused_can_be_mended_and_sent(owner_desk, filled):
    refused = owner_desk.post(ADD, filled | {"name": ""})
    assert read_form(refused)["once"] == filled["once"]
    assert owner_desk.post(ADD, filled).status_code == 200


def test_sending_a_form_again_makes_no_second_connection(owner_desk, filled):
    first = owner_desk.post(ADD, filled)
    before, events = take_snapshot(), AuditEvent.objects.count()
    for changes in ({}, {"name": "Another", "expires_in_days": "30"}):
        again = owner_desk.post(ADD, filled | changes)
        assert again.status_code == 409
        assert "This form was already sent" in main_of(again)
        assert f"/admin/agent_access/connection/{Connection.objects.get().id}/" in main_of(again)
        assert credential_in(again) == []
        assert credential_in(first)[0] not in again.content.decode()
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


def test_a_form_sent_again_after_access_went_off_still_says_that_it_was_sent(owner_desk, filled):
    owner_desk.post(ADD, filled)
    turn_access(on=False)
    assert owner_desk.post(ADD, filled).status_code == 409


@pytest.mark.parametrize("change", ["signed_out_first", "handed_over_first"])
def test_an_owner_who_is_signed_out_or_no_owner_meanwhile_makes_no_connection(
    request, owner_desk, filled, change
):
    request.getfixturevalue(change)
    assert owner_desk.post(ADD, filled).status_code == 403
    assert not Connection.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_form_sent_many_times_at_once_makes_one_connection(sign_in, owner, filled):
    sends = [partial(sign_in(owner).post, ADD, filled) for _ in range(5)]
    statuses = [answer.status_code for answer in run_together(sends)]
    assert sorted(statuses) == [200, 409, 409, 409, 409]
    assert Connection.objects.count() == 1


def test_a_form_lies_open_for_half_a_day_at_most(owner_desk, filled):
    with time_machine.travel(timezone.now() + timedelta(hours=12, seconds=2)):
        form = filled | {"csrfmiddlewaretoken": ""}
        owner_desk.force_login(Company.objects.get().owner)
        assert owner_desk.post(ADD, form).status_code == 422
    assert not Connection.objects.exists()


def test_the_credential_is_kept_and_repeated_nowhere(owner_desk, filled, caplog, settings):
    caplog.set_level(logging.DEBUG)
    answer = owner_desk.post(ADD, filled)
    [credential] = credential_in(answer)
    secret = credential.removeprefix("ivc_")
    # By itself, and in the lines to paste over HTTP and for MCP.
    assert answer.content.decode().count(secret) == 3
    sessions = [json.dumps(each.get_decoded()) for each in Session.objects.all()]
    rows = str(take_snapshot()) + str(list(AuditEvent.objects.values()))
    for text in (*sessions, rows, caplog.text, unquote(str(answer.headers)), str(answer.cookies)):
        assert secret not in text
    assert not LogEntry.objects.exists()
    made = Connection.objects.get()
    for path in ("", f"{made.id}/", "add/"):
        page = owner_desk.get(f"/admin/agent_access/connection/{path}").content.decode()
        assert secret not in page
        assert str(made.credential_digest) not in page
