"""Questions of the tests, which know no approvals: who asks, and what is told."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from agent_access.waiting import Question, Told, asked

WINDOW = timedelta(minutes=10)


@dataclass
class Riddles:
    """A subject whose questions can be decided until they are in `over`."""

    over: set[UUID] = field(default_factory=set)

    def tell(self, pk: UUID, person: Any, *, now: datetime) -> Told | None:
        if pk in self.over:
            return None
        return Told(
            title="A riddle",
            sentence=f"Solve it by {timezone.localtime(now):%Z}.",
            details="The sphinx",
            path=f"/riddles/{pk}",
            expires_at=now + WINDOW,
        )

    def find_pending(self, person: Any, *, now: datetime) -> Iterable[Told]:
        return ()


def ask(
    person: Any, *, connection_id: UUID | None = None, tag: str = "", until: timedelta = WINDOW
) -> UUID:
    """Ask the person a riddle, as an app does that stores one."""
    pk = uuid4()
    question = Question(
        subject="riddle",
        pk=pk,
        person_id=person.pk,
        connection_id=connection_id,
        tag=tag or str(pk),
        expires_at=timezone.now() + until,
    )
    asked.send(object, question=question)
    return pk
