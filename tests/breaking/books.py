"""Makes the books in a process of its own: a company, people, and a connection for each client."""

import json
import sys
from itertools import cycle, islice
from typing import Any

import django
from django.contrib.auth.hashers import make_password
from django.core.management import call_command

PEOPLE = 3
CUSTOMERS = 4
# Issued invoices and audit events would not forgive another migration: one database, one run.
PASSWORD = "a-long-password-for-the-breaking-harness"


def make_books(clients: int) -> dict[str, Any]:
    """Return what the clients are told: their credentials and sign-ins, customers and a rate."""
    # Known once Django is set up, which is this process's own first act.
    from agent_access.connections import turn_access_on  # noqa: PLC0415  as said
    from invoicing.access import Permission  # noqa: PLC0415  as said
    from tests import factories  # noqa: PLC0415  as said

    factories.CompanyFactory.create(owner__email="olivia@halden.example")
    password = make_password(PASSWORD)
    people = [
        factories.UserFactory.create(permissions=tuple(Permission), password=password)
        for _ in range(PEOPLE)
    ]
    turn_access_on()
    return {
        "customers": [str(factories.CustomerFactory.create().id) for _ in range(CUSTOMERS)],
        "tax_rate": str(factories.TaxRateFactory.create().id),
        "clients": [connect(person) for person in islice(cycle(people), clients)],
    }


def connect(person: Any) -> dict[str, str]:
    from agent_access.connections import ConnectionRequest, create_connection  # noqa: PLC0415  as above
    from agent_access.tools import registry  # noqa: PLC0415  as above

    request = ConnectionRequest(user=person, scopes=registry.scopes, days=1, name="Breaking")
    connection, credential = create_connection(request)
    return {
        "connection_id": str(connection.id),
        "credential": credential,
        "email": person.email,
        "password": PASSWORD,
    }


if __name__ == "__main__":
    django.setup()
    call_command("migrate", verbosity=0)
    print(json.dumps(make_books(int(sys.argv[1]))))  # noqa: T201  read by the process that asked
