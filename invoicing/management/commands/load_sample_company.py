"""The sample company, for a first look and for load tests."""

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.application_url import loopback_address
from invoicing.models import Customer, Document, User
from invoicing.sample_company.loading import (
    DEFAULT_DOCUMENTS,
    OWNER,
    CompanyExistsError,
    choose_password,
    load_sample_company,
)


class Command(OperatorCommand):
    help = "Loads the made-up company Halden Works into a database that has no company."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--password", help="of every person; else SAMPLE_PASSWORD, else a random one"
        )
        parser.add_argument(
            "--documents",
            type=int,
            default=DEFAULT_DOCUMENTS,
            metavar="N",
            help=f"how many, {DEFAULT_DOCUMENTS} if not said",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--force", action="store_true", help="load it even where BASE_URL is not this machine"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        if not options["force"] and loopback_address(settings.BASE_URL) is None:
            raise CommandError(
                "BASE_URL is not this machine: made-up people with one password do not belong"
                " there. --force loads them anyway."
            )
        if options["documents"] < 0:
            raise CommandError("The number of documents must not be negative.")
        password = choose_password(options["password"])
        try:
            load_sample_company(password=password.text, documents=options["documents"])
        except CompanyExistsError:
            raise CommandError("This database already has a company.") from None
        facts = {
            "company": "Halden Works",
            "owner": OWNER,
            "password": password.text if password.is_new else None,
            "people": User.objects.count(),
            "customers": Customer.objects.count(),
            "documents": Document.objects.count(),
        }
        self.stdout.write(json.dumps(facts) if options["json"] else _text(facts))


def _text(facts: dict[str, Any]) -> str:
    loaded = (
        f"Loaded {facts['company']}: {facts['people']} people, {facts['customers']} customers,"
        f" {facts['documents']} documents. The owner is {facts['owner']}."
    )
    if facts["password"] is None:
        return loaded
    return f"{loaded}\nPassword of every person, shown only now: {facts['password']}"
