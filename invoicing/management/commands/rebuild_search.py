"""The words that searches look for, rebuilt beside a running service."""

from typing import Any

from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.models import Customer, Document
from invoicing.services.search_rebuild import rebuild_words


class Command(OperatorCommand):
    help = "Writes what the search lacks of customers and documents, in short transactions."

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        written = rebuild_words(Customer.objects.all(), Document.objects.all())
        self.stdout.write(f"The search is complete: {written} rows were missing.")
