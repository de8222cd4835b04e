"""The company that a run begins with: its people, and a connection for each client."""

import json
from itertools import cycle, islice
from typing import Any

from django.contrib.auth.hashers import make_password
from django.core.management import call_command
from django.db import transaction

from agent_access.audit import OPERATOR, record_act
from agent_access.connections import ConnectionRequest, create_connection
from agent_access.passkeys.models import SigningRules
from agent_access.switches import turn_access, turn_sign_in
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.models import User
from tests.factories import CompanyFactory, CustomerFactory, TaxRateFactory, UserFactory
from tests.passkeys import SoftPasskey, digest_of

PEOPLE = 3
CUSTOMERS = 4
# Agents whose person is told of what they ask, each a few times in ten minutes.
ASKERS = 60
STAFF = ("told", "reader", "importer", "exporter")
PASSWORD = "a-long-password-for-the-breaking-harness"


def print_company(clients: int) -> None:
    """Make the company and print what the clients are told of them."""
    call_command("migrate", verbosity=0)
    print(json.dumps(make_company(clients)))  # noqa: T201  read by the process that asked


def make_company(clients: int) -> dict[str, Any]:
    """Return credentials and sign-ins, customers and a tax rate."""
    password = make_password(PASSWORD)
    company = CompanyFactory.create(owner__email="olivia@halden.example", owner__password=password)
    people, staff = hire(PEOPLE, password), hire(len(STAFF), password)
    turn_access(on=True)
    turn_sign_in(on=True)
    passkeys = {person.pk: SoftPasskey() for person in people}
    for person in people:
        keep(passkeys[person.pk], person)
    made = [CustomerFactory.create() for _ in range(CUSTOMERS)]
    customers = [str(each.id) for each in made]
    # What concerns half of them is signed.
    SigningRules.objects.create(parties=customers[::2])
    return {
        "customers": customers,
        "customer_names": [each.name for each in made],
        "staff": {
            name: describe(person)
            for name, person in zip(("owner", *STAFF), (company.owner, *staff), strict=True)
        },
        "askers": [connect(staff[0]) for _ in range(ASKERS)],
        "tax_rate": str(TaxRateFactory.create().id),
        "clients": [
            connect(person) | {"passkey": passkeys[person.pk].write()}
            for person in islice(cycle(people), clients)
        ],
    }


def hire(many: int, password: str) -> list[User]:
    """Return so many people who may do everything."""
    rights = tuple(Permission)
    return [UserFactory.create(permissions=rights, password=password) for _ in range(many)]


def keep(soft: SoftPasskey, person: User) -> None:
    """Keep the passkey as one that the person added some time ago, and audit it."""
    kept = soft.keep_for(person)
    told = {"target": str(person.pk), "detail": str(kept.pk)}
    with transaction.atomic():
        record_act("passkey:added", OPERATOR, **told, content_digest=digest_of(kept.public_key))


def describe(person: User) -> dict[str, Any]:
    """Return what a person needs at a desk, with a passkey that is kept for them now."""
    soft = SoftPasskey()
    keep(soft, person)
    own = {"pk": str(person.pk), "email": person.email, "password": PASSWORD}
    return {**own, "passkey": soft.write()}


def connect(person: User) -> dict[str, str]:
    request = ConnectionRequest(user=person, scopes=registry.scopes, days=1, name="Breaking")
    connection, credential = create_connection(request)
    return {
        "connection_id": str(connection.id),
        "credential": credential,
        "email": person.email,
        "password": PASSWORD,
    }
