"""What the owner and administrators change: people, rights, customers, rates, numbers, switches."""

from collections.abc import Mapping
from datetime import time
from functools import partial
from typing import Any

from django.db import transaction

from agent_access.connections import (
    ConnectionRequest,
    create_connection,
    rename_connection,
    revoke_connection,
)
from agent_access.models import AccessSettings, RevokedReason
from agent_access.switches import turn_access, turn_module, turn_sign_in
from agent_access.verification import keep_result
from invoicing.administration import sign_ins
from invoicing.administration.customer_imports import import_customers
from invoicing.administration.customers import change_customer, create_customer
from invoicing.administration.numbering import WantedNumbering, change_numbering
from invoicing.administration.ownership import transfer_ownership, transfer_ownership_as_operator
from invoicing.administration.people import change_person, create_person
from invoicing.administration.preferences import choose_preferences
from invoicing.administration.records import change_record
from invoicing.administration.setup import put_setup_away, take_rates
from invoicing.customer_imports.waiting import keep_file
from invoicing.models import Customer, Document, DocumentType, Logo, TaxCategory
from invoicing.number_formats import NumberStyle
from invoicing.services.search_rebuild import rebuild_words
from invoicing.services.working_hours import Stretch
from invoicing.tax_proposals import propose_rates
from tests.browsers import Browser
from tests.factories import PASSWORD
from tests.races.flaws import REBUILD
from tests.races.stage import Stage
from tests.races.table import Thing, act

# Sending somebody away ends what acts for them.
SENDING_AWAY = (Thing.PERSON, Thing.CONNECTION)
ALL_AGENTS = (Thing.CONNECTION, Thing.PERSON, Thing.CLIENT)
PERSON = (Thing.PERSON,)


def change_dana(stage: Stage, changes: Mapping[str, Any]) -> object:
    people = stage.people
    return change_person(stage.acting(people.owner), people.dana.pk, changes, seen=stage.seen.dana)


@act("the owner deactivates the person", *SENDING_AWAY, Thing.CLIENT, ends=True)
def deactivate(stage: Stage) -> object:
    return change_dana(stage, {"is_active": False})


@act("the owner makes the person a guest", *SENDING_AWAY, ends=True)
def make_guest(stage: Stage) -> object:
    return change_dana(stage, {"is_guest": True})


@act("the owner changes the person's address", *SENDING_AWAY)
def change_address(stage: Stage) -> object:
    return change_dana(stage, {"email": "d.new@halden.example"})


@act("the owner takes the person's permissions away", Thing.PERSON, ends=True)
def take_permissions(stage: Stage) -> object:
    return change_dana(stage, {"user_permissions": []})


@act("the owner gives the person a manager", Thing.PERSON)
def give_manager(stage: Stage) -> object:
    return change_dana(stage, {"manager": stage.people.colin})


@act("the owner changes the person's hours", Thing.PERSON)
def change_hours(stage: Stage) -> object:
    actor, dana = stage.acting(stage.people.owner), stage.people.dana
    hours = [Stretch(0, time(9), time(17))]
    return change_person(actor, dana.pk, {}, hours=hours, seen=stage.seen.dana)


@act("the owner creates a person", Thing.PERSON)
def add_person(stage: Stage) -> object:
    facts = {"name": "Newcomer", "email": "d.new@halden.example"}
    return create_person(stage.acting(stage.people.owner), facts)


@act("the owner signs the person out everywhere", *SENDING_AWAY, ends=True)
def sign_out(stage: Stage) -> object:
    people = stage.people
    return sign_ins.sign_out_everywhere(stage.acting(people.owner), people.dana.pk)


@act("the owner makes a one-time code", Thing.PERSON)
def make_code(stage: Stage) -> None:
    sign_ins.make_code(stage.acting(stage.people.owner), stage.people.dana.pk)


@act("an operator makes a one-time code", Thing.PERSON)
def make_code_as_operator(stage: Stage) -> None:
    sign_ins.make_code_as_operator(stage.people.dana.pk)


@act("the person uses a one-time code", *SENDING_AWAY)
def use_code(stage: Stage) -> None:
    sign_ins.use_code(stage.seen.code, "another-password-by-code", actor=stage.nobody())


@act("the person changes their password", *SENDING_AWAY)
def change_password(stage: Stage) -> None:
    dana = stage.people.dana
    sign_ins.change_own_password(stage.acting(dana), "another-password-by-hand", known=dana)


@act("an operator changes the person's password", *SENDING_AWAY)
def change_password_as_operator(stage: Stage) -> None:
    sign_ins.change_password_as_operator(stage.people.dana, "another-password-by-command")


@act("the person signs in", Thing.PERSON, has_parts=True, goes_on=True)
def sign_in(stage: Stage) -> Any:
    form = {"username": stage.people.dana.email, "password": PASSWORD}
    return Browser().post("/sign-in", form)


@act("the person chooses a language", Thing.PERSON)
def choose_language(stage: Stage) -> None:
    actor = stage.acting(stage.people.dana)
    choose_preferences(actor, language="de", time_zone="Asia/Tokyo")


@act("the owner puts the checklist away", Thing.PERSON)
def put_away(stage: Stage) -> None:
    put_setup_away(stage.acting(stage.people.owner), away=True)


@act("the owner hands the company over", *ALL_AGENTS, ends=True)
def hand_over(stage: Stage) -> None:
    transfer_ownership(stage.acting(stage.people.owner), stage.people.dana.pk)


@act("an operator hands the company over", *ALL_AGENTS)
def hand_over_as_operator(stage: Stage) -> None:
    transfer_ownership_as_operator(stage.people.admin.pk)


def change_record_of(stage: Stage, record: Any, changes: Mapping[str, Any], seen: str) -> None:
    change_record(
        stage.acting(stage.people.owner),
        lambda _: type(record).objects.all(),
        record.pk,
        changes,
        seen=seen,
        is_allowed=lambda _: True,
    )


@act("the owner renames the customer", Thing.CUSTOMER, needs=(Thing.DOCUMENT,))
def rename_customer(stage: Stage) -> None:
    actor, customer = stage.acting(stage.people.owner), stage.books.customer
    change_customer(actor, customer.pk, {"name": "Zeta Ltd"}, seen=stage.seen.customer)


@act("the owner deactivates the customer", Thing.CUSTOMER)
def deactivate_customer(stage: Stage) -> None:
    actor, customer = stage.acting(stage.people.owner), stage.books.customer
    change_customer(actor, customer.pk, {"is_active": False}, seen=stage.seen.customer)


@act("the owner takes the customer from the person", Thing.CUSTOMER)
def take_customer(stage: Stage) -> None:
    actor, customer = stage.acting(stage.people.owner), stage.books.customer
    managers = {"account_managers": [stage.people.colin]}
    change_customer(actor, customer.pk, managers, seen=stage.seen.customer)


@act("the person adds a customer", Thing.CUSTOMER, needs=PERSON)
def add_customer(stage: Stage) -> None:
    create_customer(stage.acting(stage.people.dana), {"name": "Delta", "customer_number": "3"})


@act(
    "the person imports customers",
    Thing.CUSTOMER,
    needs=(Thing.PERSON, Thing.DOCUMENT),
    has_parts=True,
)
def run_import(stage: Stage) -> None:
    """A customer who is added while it writes comes after it, though with an earlier event."""
    actor = stage.acting(stage.people.dana)
    list(import_customers(actor, stage.books.upload.pk, seen=stage.seen.plan))


@act("the person uploads another file", Thing.CUSTOMER, needs=PERSON)
def upload_file(stage: Stage) -> None:
    keep_file(stage.people.dana, name="other.csv", content=b"Number,Name\n4,Epsilon")


@act("the person gives their file up", Thing.CUSTOMER, needs=PERSON, goes_on=True)
def give_up(stage: Stage) -> Any:
    path = f"/customers/import/{stage.books.upload.pk}"
    return stage.people.desk.post(path, {"give-up": ""})


@act("the owner changes the company", Thing.RATE, Thing.SERIES, needs=(Thing.DOCUMENT,))
def change_company(stage: Stage) -> None:
    changes = {"name": "Halden Works AG", "logo": Logo(digest="c" * 64, png=b"a picture")}
    change_record_of(stage, stage.books.company, changes, stage.seen.company)


@act("the owner replaces the tax rate", Thing.RATE, Thing.SERIES)
def replace_rate(stage: Stage) -> None:
    changes = {"percentage_ten_thousandths": 70_000}
    change_record_of(stage, stage.books.rate, changes, stage.seen.rate)


@act("the owner deactivates the tax rate", Thing.RATE, Thing.SERIES)
def deactivate_rate(stage: Stage) -> None:
    change_record_of(stage, stage.books.rate, {"is_active": False}, stage.seen.rate)


@act("the owner takes proposed rates", Thing.RATE, Thing.SERIES)
def take_proposed(stage: Stage) -> None:
    rates = propose_rates("DE")[:1]
    take_rates(stage.acting(stage.people.owner), rates, untaxed=TaxCategory.EXEMPT)


@act("the owner changes a team", Thing.PERSON)
def change_team(stage: Stage) -> None:
    members = {"members": [stage.people.dana]}
    change_record_of(stage, stage.books.team, members, stage.seen.team)


@act("the owner changes how numbers are written", Thing.SERIES)
def change_numbers(stage: Stage) -> None:
    styles = {DocumentType.INVOICE: "RE-", DocumentType.CREDIT_NOTE: "GS-"}
    wanted = {
        each: WantedNumbering(NumberStyle(prefix, has_year=True, digits=5), None)
        for each, prefix in styles.items()
    }
    credit_notes = DocumentType.CREDIT_NOTE  # of which none is issued yet
    wanted[credit_notes] = wanted[credit_notes]._replace(next_value=501)
    change_numbering(
        stage.acting(stage.people.owner),
        wanted,
        year=2026,
        seen=stage.seen.numbering,
        is_allowed=lambda _: True,
    )


@act(
    REBUILD,
    needs=(Thing.CUSTOMER, Thing.DOCUMENT),
    has_parts=True,
    goes_on=True,
)
def rebuild(stage: Stage) -> None:
    rebuild_words(Customer.objects.all(), Document.objects.all())


@act("the owner makes a connection", Thing.CONNECTION, needs=PERSON)
def connect(stage: Stage) -> None:
    request = ConnectionRequest(
        user=stage.people.dana,
        scopes=["customers:read"],
        days=7,
        name="New",
        approver=stage.people.owner,
        connection_id=stage.seen.new_connection,
    )
    create_connection(request)


@act("the owner revokes the connection", Thing.CONNECTION, ends=True)
def revoke(stage: Stage) -> None:
    by, connection = stage.acting(stage.people.owner), stage.agents.connection
    revoke_connection(connection.pk, reason=RevokedReason.OWNER_REVOKED, by=by)


@act("the owner revokes the other connection", Thing.CONNECTION, ends=True)
def revoke_other(stage: Stage) -> None:
    by, connection = stage.acting(stage.people.owner), stage.agents.other_connection
    revoke_connection(connection.pk, reason=RevokedReason.OWNER_REVOKED, by=by)


@act("the owner renames the connection", Thing.CONNECTION)
def rename(stage: Stage) -> None:
    by = stage.acting(stage.people.owner)
    rename_connection(stage.agents.connection.pk, name="Renamed agent", by=by)


def as_owner(stage: Stage, switch: Any) -> None:
    """Turn a switch as its page does."""
    with transaction.atomic():
        AccessSettings.lock()
        switch(by=stage.acting(stage.people.owner))


@act("the owner stops all agents", *ALL_AGENTS, ends=True)
def stop_all(stage: Stage) -> None:
    as_owner(stage, partial(turn_access, on=False))


@act("the owner turns browser sign-in off", Thing.CONNECTION, Thing.CLIENT, ends=True)
def stop_sign_in(stage: Stage) -> None:
    as_owner(stage, partial(turn_sign_in, on=False))


@act("the owner hides a module of tools", Thing.CONNECTION, ends=True)
def hide_module(stage: Stage) -> None:
    as_owner(stage, partial(turn_module, "invoices", on=False))


@act("an operator notes that the audit was verified", Thing.CONNECTION)
def note_verified(stage: Stage) -> None:
    keep_result(broken=0)
