"""What a list of documents is narrowed to, as conditions of which each has an index of its own."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from invoicing.models import DocumentStatus, DocumentType


class Condition(NamedTuple):
    """A condition, and the columns of the index that has what it leaves.

    Of those that are `told_in_reach` the database finds what is left of some customers' documents
    without reading many of others.
    """

    holds: Q
    columns: tuple[str, ...]
    told_in_reach: bool = False


class Tab(StrEnum):
    """The parts of the list, as its address names them; what waits is a part of the drafts."""

    ALL = ""
    WAITING = "waiting"
    DRAFTS = "draft"
    ISSUED = "issued"
    CREDIT_NOTES = "credit-notes"

    def condition(self, waiting: Collection[UUID]) -> Condition | None:
        """Return the condition; None for all. `waiting` are the documents that wait."""
        if self == Tab.WAITING:
            return Condition(Q(pk__in=waiting), ("id",), told_in_reach=True)
        return _CONDITIONS.get(self)


_CONDITIONS = {
    Tab.DRAFTS: Condition(Q(status=DocumentStatus.DRAFT), ("id",), told_in_reach=True),
    Tab.ISSUED: Condition(
        Q(status=DocumentStatus.ISSUED), ("customer_id", "issue_date"), told_in_reach=True
    ),
    Tab.CREDIT_NOTES: Condition(Q(type=DocumentType.CREDIT_NOTE), ("id",), told_in_reach=True),
}


class Author(StrEnum):
    """Whether an agent wrote a document for a person, or the person by themselves."""

    AGENT = "agent"
    PERSON = "person"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What is chosen; what is None or empty selects all.

    The last day is included, and so is `most`. Amounts are in minor units of the currency, without
    which there are none. At most one of `author`, `connection_id` and `person_id` is set.
    """

    customer_id: UUID | None = None
    author: Author | None = None
    connection_id: UUID | None = None
    person_id: UUID | None = None
    first_day: date | None = None
    last_day: date | None = None
    currency_code: str = ""
    least: int | None = None
    most: int | None = None

    def conditions(self) -> list[Condition]:
        """Return the conditions that all hold, the one that leaves least, as a rule, first."""
        return [condition for condition in self._conditions() if condition.holds]

    def condition(self) -> Q:
        """Return all conditions as one."""
        return Q(*(condition.holds for condition in self.conditions()))

    def _conditions(self) -> Iterator[Condition]:
        if self.connection_id:
            # Whose documents are those of customers in the reach of the person for whom it acts.
            by_one = Q(connection_id=self.connection_id)
            yield Condition(by_one, ("connection_id", "id"), told_in_reach=True)
        if self.customer_id:
            of_one = Q(customer=self.customer_id)
            yield Condition(of_one, ("customer_id", "id"), told_in_reach=True)
        if self.person_id:
            by_hand = Q(created_by=self.person_id, connection_id__isnull=True)
            yield Condition(by_hand, ("created_by_id", "id"))
        yield Condition(_between("issue_date", self.first_day, self.last_day), ("issue_date", "id"))
        if self.currency_code:
            amounts = _between("grand_total", self.least, self.most)
            in_currency = Q(currency_code=self.currency_code) & amounts
            yield Condition(in_currency, ("currency_code", "grand_total", "id"))
        if self.author == Author.AGENT:
            yield Condition(Q(connection_id__isnull=False), ("connection_id", "id"))
        if self.author == Author.PERSON:
            yield Condition(Q(connection_id__isnull=True), ("created_by_id", "id"))


def _between(column: str, first: date | int | None, last: date | int | None) -> Q:
    bounds = {f"{column}__gte": first, f"{column}__lte": last}
    return Q(**{name: value for name, value in bounds.items() if value is not None})
