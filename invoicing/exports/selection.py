"""Which issued documents leave."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from typing_extensions import override

from invoicing.errors import PermissionMissingError
from invoicing.models import Document, DocumentStatus, User
from invoicing.models.documents import DocumentQuerySet

AT_ONCE = 50

# Reads the documents of an export, with what the query adds to each.
Read = Callable[[DocumentQuerySet], Iterator[Document]]


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

    def documents(self, user: User) -> DocumentQuerySet:
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


def read_documents(
    pks: Sequence[UUID], read_person: Callable[[], User], documents: DocumentQuerySet
) -> Iterator[Document]:
    """Yield these documents, some at once, as long as the person may see them.

    `read_person` returns the person with the rights of now. Raises what it does, and
    PermissionMissingError once a document is hidden from them.
    """
    for begin in range(0, len(pks), AT_ONCE):
        batch = pks[begin : begin + AT_ONCE]
        found = documents.visible_to(read_person()).in_bulk(batch)
        if len(found) < len(batch):
            raise PermissionMissingError
        yield from (found[pk] for pk in batch)
