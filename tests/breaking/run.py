"""One run: clients work, the killer strikes, all comes to rest, and what is left is counted."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from tests.breaking.builds import Build
from tests.breaking.columns import find_all
from tests.breaking.crowd import Crowd
from tests.breaking.drivers.crew import Crew
from tests.breaking.drivers.driver import Driver, Site
from tests.breaking.drivers.outside import Outside
from tests.breaking.grounds import Grounds
from tests.breaking.habits import Habits
from tests.breaking.journal import read_testimony
from tests.breaking.killer import Killer
from tests.breaking.leaks import collect_secrets, find_leaks
from tests.breaking.report import Report, sum_up

# Between two deeds: so short that they meet, so long that something is done between them.
SHORTEST_PEACE, LONGEST_PEACE = 0.5, 5.0

# Is told how many seconds of the run are over, and how many rounds are done.
Progress = Callable[[float, int], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long, or until so many rounds; from which seed; what is served, and who disturbs it.

    The drivers work beside the clients, of which each ends its last round within so many seconds.
    """

    seconds: float
    rounds: float = math.inf
    seed: int = 0
    servers: int = 2
    is_killing: bool = True
    habits: Habits = field(default_factory=Habits)
    build: Build = Build.SOUND
    drivers: Sequence[type[Driver]] = ()
    last_round_seconds: float = 300


def break_service(grounds: Grounds, plan: Plan, *, progress: Progress) -> Report:
    """Break the service for as long as planned and return what was found."""
    logs = Path(mkdtemp(prefix=f"logs-{plan.build.name}-", dir=grounds.folder))
    with ExitStack() as stack:
        outside = Outside(logs, _choices(plan, "outside"))
        stack.callback(outside.close)
        grounds.outside.update(outside.environment)
        servers = stack.enter_context(grounds.serve(plan.build, count=plan.servers))
        killer = Killer(grounds, servers, _choices(plan, "killer"))
        crowd = Crowd(grounds.facts, servers, logs, seed=plan.seed, habits=plan.habits)
        site = Site(
            servers=servers,
            facts=grounds.facts,
            folder=logs,
            outside=outside,
            environment=grounds.environment,
            seed=plan.seed,
            build=plan.build,
            is_killing=plan.is_killing,
            heard=crowd.heard,
        )
        crew = Crew(site, plan.drivers)
        begun = time.monotonic()
        with crew, crowd:
            for passed in _count_seconds(plan, crowd):
                progress(passed, crowd.rounds)
                if plan.is_killing:
                    killer.strike()
            crew.stop()
            killer.rest()
            crowd.finish(plan.last_round_seconds)
            crew.settle()
        seconds = time.monotonic() - begun
        told, evidence = read_testimony(logs), grounds.read_evidence()
        effects = grounds.fault.effects(servers)
        only_here = grounds.fault.columns(grounds.url)
        secrets = collect_secrets(grounds.facts, logs, site.heard)
        found = {
            **find_all(evidence, told),
            "secrets in logs": find_leaks(grounds.folder, secrets),
            **only_here,
            **crew.find(grounds.url),
        }
    deeds = {**killer.done, **effects}
    return sum_up(told, evidence, found, deeds=deeds, driven=crew.counts(), seconds=seconds)


def _count_seconds(plan: Plan, crowd: Crowd) -> Iterator[float]:
    """Yield the seconds that are over, now and then, as long as the plan goes on."""
    chance, wait = _choices(plan, "peace"), threading.Event().wait
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < plan.seconds and crowd.rounds < plan.rounds:
        yield passed
        longest = LONGEST_PEACE if plan.is_killing else SHORTEST_PEACE
        wait(chance.uniform(SHORTEST_PEACE, longest))


def _choices(plan: Plan, who: str) -> Random:
    return Random(f"{plan.seed} {who}")  # noqa: S311  choices, no secrets
