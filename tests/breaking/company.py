"""The company that a run begins with: its people, and a connection for each client."""

import json
from itertools import cycle, islice
from typing import Any

from django.contrib.auth.hashers import make_password
from django.core.management import call_command

from agent_access.connections import ConnectionRequest, create_connection
from agent_access.passkeys.models import SigningRules
from agent_access.switches import turn_access
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.models import User
from tests.factories import CompanyFactory, CustomerFactory, TaxRateFactory, UserFactory
from tests.passkeys import SoftPasskey

PEOPLE = 3
CUSTOMERS = 4
PASSWORD = "a-long-password-for-the-breaking-harness"


def print_company(clients: int) -> None:
    """Make the company and print what the clients are told of them."""
    call_command("migrate", verbosity=0)
    print(json.dumps(make_company(clients)))  # noqa: T201  read by the process that asked


def make_company(clients: int) -> dict[str, Any]:
    """Return credentials and sign-ins, customers and a tax rate."""
    CompanyFactory.create(owner__email="olivia@halden.example")
    password = make_password(PASSWORD)
    people = [
        UserFactory.create(permissions=tuple(Permission), password=password) for _ in range(PEOPLE)
    ]
    turn_access(on=True)
    passkeys = {person.pk: SoftPasskey() for person in people}
    for person in people:
        passkeys[person.pk].keep_for(person)
    customers = [str(CustomerFactory.create().id) for _ in range(CUSTOMERS)]
    # What concerns half of them is signed.
    SigningRules.objects.create(parties=customers[::2])
    return {
        "customers": customers,
        "tax_rate": str(TaxRateFactory.create().id),
        "clients": [
            connect(person) | {"passkey": passkeys[person.pk].write()}
            for person in islice(cycle(people), clients)
        ],
    }


def connect(person: User) -> dict[str, str]:
    request = ConnectionRequest(user=person, scopes=registry.scopes, days=1, name="Breaking")
    connection, credential = create_connection(request)
    return {
        "connection_id": str(connection.id),
        "credential": credential,
        "email": person.email,
        "password": PASSWORD,
    }
