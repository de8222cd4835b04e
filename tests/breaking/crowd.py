"""The clients at work, each in a thread, until they are told that it is enough."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

from tests.breaking.caller import Caller, GivenUpError
from tests.breaking.habits import Habits
from tests.breaking.journal import Journal
from tests.breaking.person import Person
from tests.breaking.rounds import Client
from tests.breaking.servers import Server
from tests.breaking.wire import Line
from tests.passkeys import SoftPasskey

THREADS_BESIDE = 3
# For documentation (RFC 5737): one address for each client.
ADDRESSES = "192.0.2."


class Crowd:
    """Clients of several people, whose logs are in a folder."""

    def __init__(
        self,
        facts: dict[str, Any],
        servers: list[Server],
        logs: Path,
        *,
        seed: int,
        habits: Habits,
    ) -> None:
        self._facts, self._servers, self._logs, self._habits = facts, servers, logs, habits
        self._enough, self._given_up = threading.Event(), threading.Event()
        self._pools: list[ThreadPoolExecutor] = []
        self.heard: set[tuple[str, str]] = set()
        self.clients = [
            self._make_client(place, Random(f"{seed} client {place}"))  # noqa: S311  choices, no secrets
            for place in range(len(facts["clients"]))
        ]

    def __enter__(self) -> Self:
        pool = self._open_pool(len(self.clients))
        # Attempts to sign in are few, so they are not made while all is being killed.
        list(pool.map(lambda client: client.caller.sign_in(), self.clients))
        self._work: list[Future[None]] = [pool.submit(self._run, each) for each in self.clients]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._enough.set()
        if kind is not None:
            self._given_up.set()
        for pool in self._pools:
            pool.shutdown()

    @property
    def rounds(self) -> int:
        return sum(client.rounds for client in self.clients)

    def finish(self, seconds: float) -> None:
        """Let every client end its round; raise what went wrong in the harness itself.

        What has no answer after so many seconds never gets one.
        """
        self._enough.set()
        wait(self._work, timeout=seconds)
        self._given_up.set()
        for work in self._work:
            work.result()

    def _run(self, client: Client) -> None:
        try:
            while not self._enough.is_set():
                client.run_round()
        except GivenUpError:
            pass  # its log says what was never answered
        finally:
            client.caller.journal.close()

    def _open_pool(self, threads: int) -> ThreadPoolExecutor:
        pool = ThreadPoolExecutor(threads)
        self._pools.append(pool)
        return pool

    def _make_client(self, place: int, chance: Random) -> Client:
        own = self._facts["clients"][place]
        name, address = f"client-{place}", f"{ADDRESSES}{place + 1}"
        caller = Caller(
            lines=[Line(each.port, own["credential"], address) for each in self._servers],
            person=Person(
                email=own["email"],
                password=own["password"],
                address=address,
                passkey=SoftPasskey.read(own["passkey"]),
                heard=self.heard,
            ),
            journal=Journal(self._logs / f"{name}.jsonl", connection_id=own["connection_id"]),
            chance=chance,
            habits=self._habits,
            pool=self._open_pool(THREADS_BESIDE),
            given_up=self._given_up,
        )
        return Client(name, caller, self._facts["customers"], self._facts["tax_rate"])
