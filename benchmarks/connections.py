"""Measures what many connections cost: the owner's pages, a call, a new one, and ending them all.

    python -m benchmarks.connections --connections 10000

prints a table of the same acts beside 10 connections and beside so many, in one process on a
PostgreSQL of its own: medians of wall-clock time, the database's part included.
"""

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from statistics import median
from time import perf_counter

from benchmarks.goals import tell_missed
from benchmarks.machine import describe_machine
from benchmarks.scratch import sample_company

FEW = 10
TIMES = 15
CALLS = 60
# Of a page, and of the call, beside ten connections.
MOST_MILLISECONDS = 500
MOST_RATIO = 1.3

Seconds = dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.connections", allow_abbrev=False)
    parser.add_argument("--connections", type=int, default=10_000)
    most = parser.parse_args().connections
    with sample_company():
        few, many = measure_with(FEW), measure_with(most)
        many |= measure_ending()
    print(", ".join(describe_machine().values()))  # noqa: T201  the table
    print("\n".join(table(few, many, most)))  # noqa: T201  as above
    slowest = max(seconds for name, seconds in many.items() if name.endswith("page"))
    return tell_missed(
        {
            f"a call takes at most {MOST_RATIO} times as long as beside {FEW}": (
                many["a call"] <= few["a call"] * MOST_RATIO
            ),
            f"a page takes at most {MOST_MILLISECONDS} ms": slowest * 1000 <= MOST_MILLISECONDS,
        }
    )


def table(few: Seconds, many: Seconds, most: int) -> Iterator[str]:
    yield f"\n| milliseconds | {FEW} connections | {most:,} connections |\n|---|---|---|"
    for name, seconds in many.items():
        beside = f"{few[name] * 1000:.1f}" if name in few else ""
        yield f"| {name} | {beside} | {seconds * 1000:.1f} |"


def measure_with(count: int) -> Seconds:
    """Return what each act takes beside so many connections."""
    from django.db import connection  # noqa: PLC0415  models can be read from here on
    from django.test import override_settings  # noqa: PLC0415  as above

    from agent_access.connections import ConnectionRequest, create_connection  # noqa: PLC0415  as above
    from agent_access.switches import turn_access  # noqa: PLC0415  as above
    from agent_access.tools import registry  # noqa: PLC0415  as above
    from agent_access.verification import prove  # noqa: PLC0415  as above
    from invoicing.models import User  # noqa: PLC0415  as above
    from tests.agents import HttpAgent  # noqa: PLC0415  as above
    from tests.browsers import Browser  # noqa: PLC0415  as above

    turn_access(on=True)
    fill(count)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    dana = User.objects.get(email="dana@halden.example")
    numbers = itertools.count(count)

    def connect() -> str:
        name = f"Benchmark {next(numbers)}"
        request = ConnectionRequest(user=dana, scopes=registry.scopes, days=1, name=name)
        return create_connection(request)[1]

    agent = HttpAgent(connect())
    owner, person = Browser(), Browser()
    owner.force_login(User.objects.get(email="olivia@halden.example"))
    person.force_login(dana)
    with override_settings(**unlimited()):
        return {
            "the owner's list, first page": time_of(
                lambda: owner.get("/admin/agent_access/connection/")
            ),
            "the owner's home page": time_of(lambda: owner.get("/")),
            "a person's home page": time_of(lambda: person.get("/")),
            "a call": time_of(lambda: agent.call("documents.list"), times=CALLS),
            "a new connection": time_of(connect),
            "all chains verified": time_of(prove, times=1),
        }


def measure_ending() -> Seconds:
    """Return how long the switch takes that ends all connections."""
    from agent_access.switches import turn_access  # noqa: PLC0415  as above

    return {"all connections ended": time_of(lambda: turn_access(on=False), times=1)}


def unlimited() -> dict[str, object]:
    from django.conf import settings  # noqa: PLC0415  as above

    limits = {"LIMIT_PER_CONNECTION": 10**6, "LIMIT_PER_ADDRESS": 10**6}
    return {"AGENT_ACCESS": {**settings.AGENT_ACCESS, **limits}}


def time_of(act: Callable[[], object], *, times: int = TIMES) -> float:
    """Return the median seconds; raises RuntimeError for a page or call that is no success."""
    seconds = []
    for _ in range(times):
        begun = perf_counter()
        answer = act()
        seconds.append(perf_counter() - begun)
        status = getattr(answer, "status_code", getattr(answer, "status", 200))
        if status != 200:  # noqa: PLR2004  of HTTP
            raise RuntimeError(f"It was answered with {status}.")
    return median(seconds)


def fill(count: int) -> None:
    """Make connections of all people in turn, with their chains, until there are so many."""
    from django.utils import timezone  # noqa: PLC0415  as above

    from agent_access.models import ChainHead, Connection, ConnectionKind  # noqa: PLC0415  as above
    from invoicing.models import User  # noqa: PLC0415  as above

    people = list(User.objects.filter(is_active=True).order_by("email"))
    owner, now = User.objects.get(email="olivia@halden.example"), timezone.now()
    made = [
        Connection(
            kind=ConnectionKind.PASTED,
            name=f"Agent {number}",
            user=people[number % len(people)],
            grants=["invoices:read", "invoices:prepare"],
            credential_digest=f"{number:064}",
            owner_id=owner.pk,
            session_revision=1,
            base_url="https://invoices.example",
            created_at=now - timedelta(days=90),
            expires_at=now + timedelta(days=30),
        )
        for number in range(Connection.objects.count(), count)
    ]
    Connection.objects.bulk_create(made, batch_size=1000)
    ChainHead.objects.bulk_create([ChainHead(chain=str(each.pk)) for each in made], batch_size=1000)


if __name__ == "__main__":
    sys.exit(main())
