"""Calls at the same moment: real threads and real transactions, through the HTTP surface."""

from collections import Counter
from functools import partial
from itertools import chain
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection as database
from django.db import transaction

from agent_access.models import AuditEvent, Receipt
from agent_access.verification import find_breaks, read_heads
from invoicing.models import Document
from tests.agents import Answer, HttpAgent
from tests.snapshots import take_snapshot
from tests.threads import PATIENCE_SECONDS, run_together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("many_calls")]

THREADS = 20


def create(credential: str, body: dict[str, Any], key: str) -> Answer:
    return HttpAgent(credential).call("drafts.create", body, key=key)


@pytest.mark.requirement("idempotency.identical_retry")
def test_twenty_calls_with_one_key_make_one_draft_and_get_one_answer(agent, connection, draft_body):
    answers = run_together([partial(create, agent.credential, draft_body, "one")] * THREADS)

    assert {(answer.status, answer.content) for answer in answers} == {(201, answers[0].content)}
    replays = Counter("Idempotent-Replayed" in answer.headers for answer in answers)
    assert replays == {True: THREADS - 1, False: 1}
    assert (Document.objects.count(), Receipt.objects.count()) == (1, 1)
    events = AuditEvent.objects.filter(chain=str(connection.id))
    outcomes = Counter(events.values_list("outcome", "detail"))
    assert outcomes == {("ok", ""): 1, ("ok", "replayed"): THREADS - 1}
    assert list(find_breaks()) == []


@pytest.mark.requirement("error.stale_update", "error.conflict")
def test_of_twenty_updates_of_one_version_one_wins(agent, draft_body):
    draft = agent.call("drafts.create", draft_body, key="first").data["id"]

    def update(number: int) -> Answer:
        body = draft_body | {"lock_version": 1, "reference": f"PO {number}"}
        return HttpAgent(agent.credential).call("drafts.update", body, id=draft, key=f"k{number}")

    answers = run_together([partial(update, number) for number in range(THREADS)])

    assert Counter(answer.status for answer in answers) == {200: 1, 409: THREADS - 1}
    winner = next(answer for answer in answers if answer.status == 200)
    stored = Document.objects.get()
    assert (stored.lock_version, stored.reference) == (2, winner.data["reference"])
    assert stored.lines.count() == 1
    assert Receipt.objects.count() == 2
    assert list(find_breaks()) == []


@pytest.mark.requirement("idempotency.other_call", "error.conflict")
def test_of_twenty_payloads_with_one_key_one_wins(agent, draft_body):
    bodies = [draft_body | {"reference": f"PO {number}"} for number in range(THREADS)]
    answers = run_together([partial(create, agent.credential, body, "one") for body in bodies])

    assert Counter(answer.status for answer in answers) == {201: 1, 409: THREADS - 1}
    winner = next(answer for answer in answers if answer.status == 201)
    assert Document.objects.get().reference == winner.data["reference"]
    assert Receipt.objects.get().answer == winner.content.decode()


# On SQLite so many writers starve one another past the lock time-out on a slow machine.
@pytest.mark.postgresql
def test_the_chains_stay_whole_under_two_hundred_calls(connect, delegate, draft_body):
    connected = [connect(delegate) for _ in range(4)]

    def call_ten_times(number: int) -> list[int]:
        credential = connected[number % 4][1].credential
        assert list(find_breaks()) == []
        answers = [create(credential, draft_body, f"k{number}-{each}") for each in range(2)]
        for _ in range(4):
            answers.append(HttpAgent(credential).call("customers.search"))
            answers.append(HttpAgent(credential).call("documents.get", id="nobody"))
        return [answer.status for answer in answers]

    statuses = run_together([partial(call_ten_times, number) for number in range(THREADS)])

    assert Counter(chain.from_iterable(statuses)) == {200: 80, 201: 40, 404: 80}
    assert list(find_breaks()) == []
    heads = read_heads()
    assert [heads[str(connection.id)].sequence for connection, _ in connected] == [50] * 4


@pytest.mark.requirement("error.unavailable", "error.failure_stores_no_receipt")
def test_a_lock_held_too_long_is_unavailable_and_the_retry_works(agent, draft_body, settings):
    settings.AGENT_ACCESS |= {"RAISE_UNFORESEEN": False}
    draft = agent.call("drafts.create", draft_body, key="first").data["id"]
    update = draft_body | {"lock_version": 1}
    held, free = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            Document.objects.select_for_update().get(pk=draft)
            held.set()
            free.wait(PATIENCE_SECONDS)
        database.close()

    holder = Thread(target=hold)
    holder.start()
    held.wait(PATIENCE_SECONDS)
    before = take_snapshot()
    shorten_patience()
    refused = agent.call("drafts.update", update, id=draft, key="second")
    free.set()
    holder.join()

    assert (refused.status, refused.code) == (503, "unavailable")
    assert take_snapshot() == before
    retried = agent.call("drafts.update", update, id=draft, key="second")
    assert (retried.status, retried.data["lock_version"]) == (200, 2)
    assert "Idempotent-Replayed" not in retried.headers
    assert list(find_breaks()) == []
    database.close()  # with it goes the short time-out


def shorten_patience() -> None:
    is_sqlite = database.vendor == "sqlite"
    with database.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50" if is_sqlite else "SET lock_timeout = '50ms'")
