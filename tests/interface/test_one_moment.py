"""An answer of several queries is of one moment, whatever is committed between them."""

from typing import Any

import pytest
from django.db import connection

from invoicing.models import Skill
from tests.threads import run_together

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def test_what_is_committed_between_two_queries_is_not_in_the_answer(agent, delegate):
    delegate.skills.add(Skill.objects.create(name="Bookkeeping"))
    removed: list[Any] = []

    def remove() -> None:
        delegate.skills.clear()

    def execute(run: Any, sql: str, *rest: Any) -> Any:
        if 'FROM "invoices_skill"' in sql and not removed:
            removed.append(run_together([remove]))
        return run(sql, *rest)

    with connection.execute_wrapper(execute):
        answer = agent.call("people.get", id=delegate.id)

    assert (len(removed), answer.data["skills"]) == (1, ["Bookkeeping"])
    assert agent.call("people.get", id=delegate.id).data["skills"] == []
