"""Measures how people are told: from a request to the browser's push service, alone and many.

    python -m benchmarks.notifications --requests 500

runs the worker of `manage.py deliver` and a push service with TLS in one process, on a PostgreSQL
of its own, and prints how long one takes, how many a second are sent of many that wait, and the
processor time of one, that of the push service included.
"""

import argparse
import os
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from threading import Event, Thread
from typing import Any

from benchmarks.goals import tell_missed
from benchmarks.machine import describe_machine
from benchmarks.scratch import sample_company

ALONE = 20
# Seconds from an agent's request to the push service, of one alone.
MOST_SECONDS = 2
PAUSE = 0.002
PATIENCE_SECONDS = 600


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.notifications", allow_abbrev=False)
    parser.add_argument("--requests", type=int, default=500)
    requests = parser.parse_args().requests
    os.environ["WEB_PUSH_KEY"] = push_key()
    with sample_company(), push_service() as service:
        from benchmarks.sample import Sample  # noqa: PLC0415  models can be read from here on

        sample = Sample(requests + ALONE)
        add_browser(service)
        with worker():
            alone = median(time_one(sample, service, number) for number in range(ALONE))
        begun = len(service.requests)
        asked = time.perf_counter()
        for number in range(requests):
            ask(sample, ALONE + number)
        asking = time.perf_counter() - asked
        spent, started = time.process_time(), time.perf_counter()
        with worker():
            wait_for(lambda: len(service.requests) - begun >= requests)
            lasted, spent = time.perf_counter() - started, time.process_time() - spent
    print(", ".join(describe_machine().values()))  # noqa: T201  the table
    print(f"\n| {requests} requests | |\n|---|---|")  # noqa: T201  as above
    print(f"| one alone, from the request to the push service | {alone:.2f} s |")  # noqa: T201  as above
    print(f"| making the draft and the request | {asking / requests * 1000:.1f} ms |")  # noqa: T201  as above
    print(f"| sent a second of many | {requests / lasted:.0f} |")  # noqa: T201  as above
    print(f"| processor time of each | {spent / requests * 1000:.1f} ms |")  # noqa: T201  as above
    return tell_missed({f"one alone takes at most {MOST_SECONDS} s": alone <= MOST_SECONDS})


def push_key() -> str:
    from tests.telling.push_service import WEB_PUSH_KEY  # noqa: PLC0415  read where it is needed

    return WEB_PUSH_KEY


@contextmanager
def push_service() -> Iterator[Any]:
    """Run a push service on this machine, which the worker trusts and may reach."""
    import trustme  # noqa: PLC0415  as above
    from django.conf import settings  # noqa: PLC0415  as above

    from agent_access import outgoing  # noqa: PLC0415  as above
    from tests.telling.push_service import run_push_service  # noqa: PLC0415  as above

    authority = trustme.CA()

    def make_context() -> ssl.SSLContext:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    settings.AGENT_ACCESS |= {"REACHES_LOOPBACK": True}
    outgoing.make_tls_context = make_context
    outgoing.resolve = lambda *_: ["127.0.0.1"]  # whatever the name
    with run_push_service(authority) as service:
        yield service


def add_browser(service: Any) -> None:
    from agent_access.telling.devices import add_device  # noqa: PLC0415  as above
    from invoicing.models import User  # noqa: PLC0415  as above
    from tests.telling.push_service import PushBrowser  # noqa: PLC0415  as above

    dana = User.objects.get(email="dana@halden.example")
    add_device(dana, PushBrowser(service).subscription, name="Firefox")


@contextmanager
def worker() -> Iterator[None]:
    """Let a worker send until the block ends."""
    from agent_access.telling.worker import Worker  # noqa: PLC0415  as above

    stopped = Event()
    thread = Thread(target=Worker().run, args=(stopped,))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def ask(sample: Any, number: int) -> None:
    """Make a draft, and ask its person for the issue."""
    sample.ask(sample.connection(number)[0])


def time_one(sample: Any, service: Any, number: int) -> float:
    """Return the seconds from a request to its arrival."""
    before, begun = len(service.requests), time.perf_counter()
    ask(sample, number)
    wait_for(lambda: len(service.requests) > before)
    return time.perf_counter() - begun


def wait_for(is_done: Callable[[], bool]) -> None:
    deadline = time.perf_counter() + PATIENCE_SECONDS
    while not is_done():
        if time.perf_counter() > deadline:
            raise SystemExit("What was asked never reached the push service.")
        time.sleep(PAUSE)


if __name__ == "__main__":
    sys.exit(main())
