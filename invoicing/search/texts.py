"""The texts of each kind of record that a search compares with.

Agents read which in `agent_tools/catalogue.py`, people beside the search fields.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from uuid import UUID

from invoicing.models import Customer, Document, Team, User


def texts_of_customer(customer: Customer) -> list[str]:
    return [customer.name]


def texts_of_document(document: Document) -> Iterator[str]:
    yield document.number or ""
    # Two words: as one, for which nobody looks, it would take a tenth of the document's rows.
    yield document.draft_code.replace("-", "- ")
    yield document.subject
    yield document.customer_name


def texts_of_people() -> Callable[[User], list[str]]:
    """Return a function that returns a person's texts.

    Its first call reads the skills of all people at once: to read them person by person would take
    longer than all else in a search.
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
