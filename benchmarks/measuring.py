"""Rounds in which all subjects take turns, so that a noisy machine is noisy for all."""

import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tqdm import tqdm

from benchmarks.subjects import Prepare, PrepareClients, Step, Subject

MILLISECONDS = 1000


@dataclass
class Figures:
    """What one subject took for one kind of work, in seconds; its summary is in milliseconds."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: float | None = None

    def add(self, seconds: list[float], cpu_seconds: float | None) -> None:
        self.seconds += seconds
        if cpu_seconds is not None:
            self.cpu_seconds = (self.cpu_seconds or 0) + cpu_seconds

    def summary(self) -> dict[str, float | int | None]:
        ordered = sorted(self.seconds)
        cpu = None if self.cpu_seconds is None else self.cpu_seconds / len(ordered)
        return {
            "requests": len(ordered),
            "p50_ms": round(statistics.median(ordered) * MILLISECONDS, 3),
            "p99_ms": round(ordered[len(ordered) * 99 // 100] * MILLISECONDS, 3),
            "cpu_ms": None if cpu is None else round(cpu * MILLISECONDS, 3),
        }


Results = dict[str, dict[str, Figures]]


def measure_in_turns(subjects: Sequence[Subject], *, rounds: int, requests: int) -> Results:
    """Return the figures by operation and subject; the first round only warms up."""
    results: Results = defaultdict(lambda: defaultdict(Figures))
    for number in range(rounds + 1):
        for operation, subject, prepare in tqdm(
            _turns(subjects), desc=f"Round {number}", leave=False, disable=None
        ):
            figures = results[operation][subject.name] if number else Figures()
            _measure(subject, prepare(requests), figures)
    return results


def _turns(subjects: Sequence[Subject]) -> list[tuple[str, Subject, Prepare]]:
    names = dict.fromkeys(name for subject in subjects for name in subject.operations)
    return [
        (name, subject, subject.operations[name])
        for name in names
        for subject in subjects
        if name in subject.operations
    ]


def _measure(subject: Subject, steps: list[Step], figures: Figures) -> None:
    before = subject.cpu_seconds() if subject.cpu_seconds else None
    seconds = [_time(step) for step in steps]
    after = subject.cpu_seconds() if subject.cpu_seconds else None
    figures.add(seconds, None if before is None or after is None else after - before)


def _time(step: Step) -> float:
    begun = time.perf_counter()
    step()
    return time.perf_counter() - begun


def measure_concurrently(
    subjects: Mapping[str, PrepareClients], *, rounds: int, clients: int, share: int
) -> dict[str, float]:
    """Return by subject how many steps a second all clients do together, as the rounds' median.

    Each client does `share` steps in a round; the first round only warms up.
    """
    rates: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for name, prepare in tqdm(
            subjects.items(), desc=f"Round {number} at once", leave=False, disable=None
        ):
            rate = run_concurrently(prepare(share, clients))
            if number:
                rates[name].append(rate)
    return {name: statistics.median(each) for name, each in rates.items()}


def run_concurrently(clients: Sequence[Sequence[Step]]) -> float:
    """Run the steps of every client in a thread of its own; return how many they do a second."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(len(clients)) as threads:
        for _ in threads.map(_run_all, clients):
            pass
    return sum(map(len, clients)) / (time.perf_counter() - begun)


def _run_all(steps: Sequence[Step]) -> None:
    for step in steps:
        step()
