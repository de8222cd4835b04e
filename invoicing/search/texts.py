"""What a search looks at in each kind of record.

Agents are told of it in `agent_tools/catalogue.py`, people beside the field of a search.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from uuid import UUID

from invoicing.models import Customer, Document, DocumentStatus, Team, User


def texts_of_customer(customer: Customer) -> list[str]:
    return [customer.name]


def texts_of_document(document: Document) -> Iterator[str]:
    """Yield its texts; of an issued document the buyer's name as it was frozen."""
    yield document.number or ""
    yield document.draft_code
    yield document.reference
    # Migration 0005 gives documents as of then: with fields alone, so no is_issued, and without
    # those that are younger, which have to be read by getattr(document, "...", "").
    is_issued = document.status == DocumentStatus.ISSUED
    yield document.buyer_name if is_issued else document.customer.name


def texts_of_people() -> Callable[[User], list[str]]:
    """Return what gives the texts of a person; the skills of all are read when first asked for.

    As records of each person they would take longer than all else in a search.
    """
    names_of = cache(_read_skill_names)
    return lambda person: [
        person.name,
        person.email,
        person.job_title,
        *names_of().get(person.pk, ()),
    ]


def _read_skill_names() -> dict[UUID, list[str]]:
    names = defaultdict(list)
    held = User.skills.through.objects.values_list("user_id", "skill__name")
    for person_id, name in held:
        names[person_id].append(name)
    return names


def texts_of_team(team: Team) -> list[str]:
    return [team.name, team.description]
