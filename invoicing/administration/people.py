"""Creates and changes people, as acts of administration; some changes end connections."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from agent_access.audit import Actor
from invoicing.administration.acts import act_of, end_connections, write_down
from invoicing.administrators import may_administer
from invoicing.errors import ConflictError
from invoicing.locks import lock_person
from invoicing.models import User
from invoicing.services import people
from invoicing.services.people import PersonChange
from invoicing.services.record_changes import Changes
from invoicing.services.sign_ins import CHANGE_PEOPLE
from invoicing.services.working_hours import Stretch

may_add_people = partial(may_administer, permission="invoices.add_user")
may_change_people = partial(may_administer, permission=CHANGE_PEOPLE)


def create_person(actor: Actor, changes: Changes, *, hours: Sequence[Stretch] = ()) -> User:
    """Save a new person; raises what services.people.create_person does."""
    with act_of(actor, may_add_people) as by:
        person = people.create_person(changes, hours=hours, by=by)
        write_down("person:created", target=person.pk, actor=actor)
    return person


def change_person(
    actor: Actor,
    pk: UUID,
    changes: Changes,
    *,
    hours: Sequence[Stretch] | None = None,
    seen: str,
) -> PersonChange:
    """Write the changes of a person whose digest_person() is still `seen`.

    Raises what services.people.change_person does, RecordNotFoundError, and ConflictError if
    somebody else changed the person meanwhile.
    """
    with act_of(actor, may_change_people) as by:
        person = lock_person(pk)
        if people.digest_person(person) != seen:
            raise ConflictError
        end = partial(end_connections, actor=actor)
        change = people.change_person(person, changes, hours=hours, by=by, end_connections=end)
        if change.fields:
            detail = _tell(change)
            write_down("person:changed", target=pk, actor=actor, detail=detail)
    return change


def _tell(change: PersonChange) -> str:
    """Return the names of the changed fields, and the new values of those that are booleans."""
    values = ((name, getattr(change.person, name)) for name in change.fields)
    return ", ".join(
        f"{name}={'yes' if value else 'no'}" if isinstance(value, bool) else name
        for name, value in values
    )
