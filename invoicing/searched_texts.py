"""What a search looks at in each kind of record."""

from collections.abc import Iterator

from invoicing.models import Customer, Document, DocumentStatus, Team, User


def texts_of_customer(customer: Customer) -> list[str]:
    return [customer.name]


def texts_of_document(document: Document) -> Iterator[str]:
    """Yield its texts; of an issued document the buyer's name as it was frozen."""
    yield document.number or ""
    yield document.draft_code
    yield document.reference
    # Not is_issued: a migration's document, as 0005 fills the word table from, has fields alone.
    is_issued = document.status == DocumentStatus.ISSUED
    yield document.buyer_name if is_issued else document.customer.name


def texts_of_person(person: User) -> list[str]:
    """Return the texts of a person whose skills have been fetched."""
    skills = [skill.name for skill in person.skills.all()]
    return [person.name, person.email, person.job_title, *skills]


def texts_of_team(team: Team) -> list[str]:
    return [team.name, team.description]
