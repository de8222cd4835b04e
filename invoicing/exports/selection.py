"""Which issued documents leave."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db.models import QuerySet
from typing_extensions import override

from invoicing.models import Document, DocumentStatus, User


@dataclass(frozen=True)
class Selection:
    """The days on which they were issued, the last one included; what is empty selects all."""

    first_day: date
    last_day: date
    type: str = ""
    currency_code: str = ""
    customer_id: UUID | None = None

    @override
    def __str__(self) -> str:
        """Return what is selected, for the audit: no text of a record."""
        return ", ".join(
            [f"{self.first_day} to {self.last_day}", *map(str, self._filters().values())]
        )

    def documents(self, user: User) -> QuerySet[Document]:
        """Return those that the user may see, in the order of their issue dates."""
        return (
            Document.objects.visible_to(user)
            .filter(
                status=DocumentStatus.ISSUED,
                issue_date__range=(self.first_day, self.last_day),
                **self._filters(),
            )
            .order_by("issue_date", "issued_at", "pk")
        )

    def _filters(self) -> dict[str, str | UUID]:
        columns = {
            "type": self.type,
            "currency_code": self.currency_code,
            "customer_id": self.customer_id,
        }
        return {name: value for name, value in columns.items() if value}
