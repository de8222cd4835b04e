"""The operator's commands: what they do, what they print, and how they refuse."""

import json
from datetime import datetime
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from agent_access.connections import INVALID_NAME
from agent_access.models import AccessSettings, AuditEvent, Connection
from agent_access.tools import registry
from agent_access.verification import read_heads
from invoicing.access import Permission
from invoicing.models import Customer, TaxRate
from tests.agent_access.tampering import run_sql
from tests.agents import HttpAgent
from tests.factories import CompanyFactory, CustomerFactory, TaxRateFactory, UserFactory
from tests.snapshots import take_snapshot

CHOOSE_SCOPES = f"Choose one or more of these scopes: {', '.join(registry.scopes)}."


def run(command: str, *arguments: str) -> str:
    out, errors = StringIO(), StringIO()
    call_command(command, *arguments, stdout=out, stderr=errors, no_color=True)
    assert errors.getvalue() == ""
    return out.getvalue()


def assert_refused(sentence: str, command: str, *arguments: str) -> None:
    before, events = take_snapshot(), AuditEvent.objects.count()
    with pytest.raises(CommandError) as refusal:
        run(command, *arguments)
    assert str(refusal.value) == sentence
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


@pytest.mark.usefixtures("customer", "tax_rate")
def test_access_is_switched_and_told_with_the_database(company, delegate):
    name = connection.settings_dict["NAME"]
    off, on = (f"Agent access is {state} in the database {name}." for state in ("off", "on"))
    assert run("agent_access", "status") == f"{off} Live connections: 0.\n"
    assert run("agent_access", "on") == f"{on} Live connections: 0.\n"
    assert AccessSettings.read().access_on
    connect(delegate)
    before, events = take_snapshot(), AuditEvent.objects.count()
    assert run("agent_access", "status") == f"{on} Live connections: 1.\n"
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)
    assert run("agent_access", "off") == f"{off} Live connections: 0. 1 were ended.\n"
    assert not AccessSettings.read().access_on


@pytest.mark.usefixtures("customer", "tax_rate")
def test_the_switch_prints_one_json_object(access_on, delegate):
    live = {"access_on": True, "live_connections": 1, "revoked_connections": 0, "missing": []}
    connect(delegate)
    assert json.loads(run("agent_access", "status", "--json")) == live
    ended = live | {"access_on": False, "live_connections": 0, "revoked_connections": 1}
    assert json.loads(run("agent_access", "off", "--json")) == ended


ADMIN = "https://invoices.example/admin/invoices"
COMPANY = f"There is no company yet: sign in as superuser and add it at {ADMIN}/company/add/"
PERMISSIONS = (
    "Nobody for whom an agent could act has a permission yet: choose people's permissions at"
    f" {ADMIN}/user/"
)
CUSTOMER = (
    f"There is no active customer yet, so no draft can be written: add one at {ADMIN}/customer/add/"
)
TAX_RATE = (
    f"There is no active tax rate yet, so every line is untaxed: add one at {ADMIN}/taxrate/add/"
)


@pytest.mark.django_db
def test_the_switch_says_what_an_agent_lacks_until_it_is_there():
    def missing() -> list[str]:
        told = run("agent_access", "status").splitlines()
        assert json.loads(run("agent_access", "on", "--json"))["missing"] == told[1:]
        return told[1:]

    assert missing() == [COMPANY, PERMISSIONS, CUSTOMER, TAX_RATE]
    CompanyFactory.create()
    customer = CustomerFactory.create(is_active=False)
    assert missing() == [PERMISSIONS, CUSTOMER, TAX_RATE]
    UserFactory.create(is_guest=True, permissions=tuple(Permission))
    assert missing() == [PERMISSIONS, CUSTOMER, TAX_RATE]
    UserFactory.create(permissions=(Permission.VIEW_DOCUMENT,))
    assert missing() == [CUSTOMER, TAX_RATE]
    Customer.objects.filter(pk=customer.pk).update(is_active=True)
    rate = TaxRateFactory.create()
    assert missing() == []
    TaxRate.objects.filter(pk=rate.pk).update(is_active=False)
    assert missing() == [TAX_RATE]
    assert run("agent_access", "off").count("\n") == 1


def test_a_module_is_turned_off_and_on(access_on, delegate):
    agent = HttpAgent(connect(delegate)["credential"])
    assert run("agent_module", "customers", "off") == (
        "The module customers is off: its tools are hidden from all agents. No connection ended.\n"
    )
    assert agent.call("customers.search").code == "not_found"
    assert run("agent_module", "customers", "on") == "The module customers is on.\n"
    assert agent.call("customers.search").status == 200
    told = AuditEvent.objects.filter(action__startswith="module:").order_by("sequence")
    turned = [(f"module:turned_{state}", "customers", "command") for state in ("off", "on")]
    assert list(told.values_list("action", "target", "transport")) == turned


def test_an_unknown_module_is_refused_with_the_known_ones(access_on):
    sentence = "There is no such module. The modules are customers, invoices, people."
    assert_refused(sentence, "agent_module", "nothing", "off")


def connect(delegate: Any, **changes: str) -> dict[str, str]:
    options = {"user": delegate.email, "scopes": "customers:read", "days": "7"} | changes
    arguments = [f"--{name}={value}" for name, value in options.items()]
    facts: dict[str, str] = json.loads(run("connect_agent", *arguments, "--json"))
    return facts


def test_a_connection_is_made_and_its_credential_printed_once(access_on, delegate):
    facts = connect(delegate, scopes="customers:read, people:read,", name=" Ledger bot ")
    assert list(facts) == ["connection_id", "credential", "expires_at"]
    connection = Connection.objects.get(pk=UUID(facts["connection_id"]))
    assert (connection.user, connection.name) == (delegate, "Ledger bot")
    assert connection.grants == ["customers:read", "people:read"]
    expires_at = datetime.fromisoformat(facts["expires_at"])
    assert expires_at == connection.expires_at.replace(microsecond=0)
    assert facts["expires_at"].endswith("Z")
    assert HttpAgent(facts["credential"]).call("customers.search").status == 200


def test_a_person_reads_the_credential_in_words(access_on, delegate):
    arguments = ["--user", delegate.email, "--scopes", "people:read", "--days", "1"]
    printed = run("connect_agent", *arguments)
    connection = Connection.objects.get()
    first, second, credential = printed.splitlines()
    assert first == f"Connection {connection.id}, until {connection.expires_at:%Y-%m-%dT%H:%M:%SZ}."
    assert second == "Credential, shown only now:"
    assert HttpAgent(credential).call("people.list").status == 200
    assert connection.name == "Agent"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"user": "nobody@halden.example"}, "There is no person with this sign-in name."),
        ({"days": "31"}, "A connection lasts 1 to 30 days."),
        ({"scopes": ","}, CHOOSE_SCOPES),
        ({"scopes": "customers:read;people:read"}, CHOOSE_SCOPES),
        ({"name": "a\nb"}, INVALID_NAME),
    ],
    ids=str,
)
def test_an_unfit_connection_is_refused_with_a_sentence(access_on, delegate, changes, sentence):
    options = {"user": delegate.email, "scopes": "customers:read", "days": "7"} | changes
    assert_refused(sentence, "connect_agent", *[f"--{k}={v}" for k, v in options.items()])


def test_a_connection_is_revoked_once(agent, connection):
    assert run("revoke_connection", str(connection.id)) == (
        "The connection has ended; its next call gets 401.\n"
    )
    assert agent.call("tools.list").status == 401
    events = AuditEvent.objects.count()
    assert run("revoke_connection", str(connection.id)) == "The connection had already ended.\n"
    assert AuditEvent.objects.count() == events


def test_an_unknown_connection_cannot_be_revoked(connection):
    sentence = "There is no connection with this ID."
    assert_refused(sentence, "revoke_connection", "0190f1f0-0000-7000-8000-000000000000")
    assert_refused("Argument ID: invalid UUID value: 'x'.", "revoke_connection", "x")


def test_the_proof_prints_the_heads(agent, connection):
    agent.call("tools.list")
    lines = run("verify_audit").splitlines()
    heads = read_heads()
    assert lines == [f"{chain} {at.sequence} {at.digest}" for chain, at in heads.items()]
    assert list(heads) == [str(connection.id), "administration"]


def test_heads_kept_elsewhere_are_expected(agent, connection, colleague, tmp_path):
    agent.call("tools.list")
    connect(colleague)  # a chain without an event yet
    kept = tmp_path / "heads"
    kept.write_text(run("verify_audit"), encoding="utf-8")
    agent.call("tools.list")
    assert run("verify_audit", "--expect", str(kept))
    trimmed = "\n".join(line.strip() for line in kept.read_text("utf-8").splitlines())
    kept.write_text(f"\n{trimmed}\n\n", encoding="utf-8")
    assert run("verify_audit", "--expect", str(kept))


def test_a_break_is_named_and_the_exit_is_not_zero(agent, connection):
    agent.call("tools.list")
    run_sql("DELETE FROM agent_access_auditevent WHERE action = 'tools.list'")
    out, errors = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ending:
        call_command("verify_audit", stdout=out, stderr=errors, no_color=True)
    assert ending.value.code == 1
    assert errors.getvalue() == f"{connection.id} 1: an event is missing here\n"
    assert out.getvalue() == ""


def test_a_run_goes_on_where_the_last_one_ended(agent, connection, tmp_path):
    agent.call("tools.list")
    kept = tmp_path / "heads"
    kept.write_text(run("verify_audit"), encoding="utf-8")
    agent.call("tools.list")
    assert run("verify_audit", "--since", str(kept)) == run("verify_audit")
    run_sql("UPDATE agent_access_auditevent SET detail = 'x' WHERE sequence = 1")
    assert run("verify_audit", "--since", str(kept)).startswith(f"{connection.id} 2 ")


def test_a_part_is_proved_by_itself(agent, connection):
    agent.call("tools.list")
    assert run("verify_audit", "--part", "2/2") == "Part 2 of 2 is as it was written.\n"
    run_sql("UPDATE agent_access_auditevent SET detail = 'x' WHERE action = 'tools.list'")
    assert run("verify_audit", "--part", "2/2") == "Part 2 of 2 is as it was written.\n"
    with pytest.raises(SystemExit):
        run("verify_audit", "--part", "1/2")
    for wrong in ("0/2", "3/2", "1", "a/b", "1/0"):
        sentence = "Argument --part: not a part such as 2/7."
        assert_refused(sentence, "verify_audit", "--part", wrong)


NO_HEADS = "A line of the file is not: chain, sequence, digest."
NO_CHAIN = "The file names no chain, so it would prove nothing."
TWO_RUNS = "The file names a chain twice; it must hold the heads of one run."
UNFIT_FILES = [
    *((text, NO_HEADS) for text in ("chain", "a b c d", "a -1 0", "a \u0663 0", "a 1 G")),
    (f"a {'9' * 5000} 0", NO_HEADS),
    *((text, NO_CHAIN) for text in ("", "\n\n")),
    ("administration 1 a\nadministration 2 b\n", TWO_RUNS),
]


@pytest.mark.parametrize(("text", "sentence"), UNFIT_FILES)
def test_a_file_that_is_not_the_heads_of_one_run_is_refused(company, tmp_path, text, sentence):
    kept = tmp_path / "heads"
    kept.write_text(text, encoding="utf-8")
    assert_refused(sentence, "verify_audit", "--expect", str(kept))


def test_a_file_that_cannot_be_read_is_refused(company, tmp_path):
    sentence = "The file of expected heads cannot be read."
    assert_refused(sentence, "verify_audit", "--expect", str(tmp_path / "missing"))
    assert_refused(sentence, "verify_audit", "--expect", str(tmp_path))
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    assert_refused(sentence, "verify_audit", "--expect", str(binary))
