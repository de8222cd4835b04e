"""Which issued documents leave."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import Q
from typing_extensions import override

from invoicing.document_lists.filters import Author, Filters
from invoicing.errors import PermissionMissingError
from invoicing.models import Document, DocumentStatus, User
from invoicing.models.documents import DocumentQuerySet

AT_ONCE = 50
AMOUNTS = ("least", "most")
_OTHERS = (
    *("currency_code", "customer_id", "author", "connection_id", "person_id"),
    *AMOUNTS,
)

# Reads the documents of an export, with what the query adds to each.
Read = Callable[[DocumentQuerySet], Iterator[Document]]


@dataclass(frozen=True)
class Selection:
    """The days on which they were issued, the last one included; what is empty selects all.

    The others are those of Filters, by which a list is narrowed.
    """

    first_day: date
    last_day: date
    type: str = ""
    currency_code: str = ""
    customer_id: UUID | None = None
    author: Author | None = None
    connection_id: UUID | None = None
    person_id: UUID | None = None
    least: int | None = None
    most: int | None = None

    @override
    def __str__(self) -> str:
        """Return what is selected, for the audit: no text of a record."""
        named = {name: value for name, value in self._others().items() if value is not None}
        chosen = [str(value) for name, value in named.items() if value and name not in AMOUNTS]
        amounts = [f"{name} {value}" for name, value in named.items() if name in AMOUNTS]
        days = f"{self.first_day} to {self.last_day}"
        return ", ".join([days, *filter(None, [self.type]), *chosen, *amounts])

    def documents(self, user: User) -> DocumentQuerySet:
        """Return those that the user may see, in the order of their issue dates."""
        filters = Filters(first_day=self.first_day, last_day=self.last_day, **self._others())
        of_type = Q(type=self.type) if self.type else Q()
        return (
            Document.objects.visible_to(user)
            .filter(of_type, filters.condition(), status=DocumentStatus.ISSUED)
            .order_by("issue_date", "issued_at", "pk")
        )

    def _others(self) -> dict[str, Any]:
        """Return what is chosen besides the days and the type, by name."""
        return {name: getattr(self, name) for name in _OTHERS}


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
