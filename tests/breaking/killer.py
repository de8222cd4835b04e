"""Takes away, at random, what the service stands on, and gives it back."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from tests.breaking.grounds import Grounds
from tests.breaking.servers import Server, wait_until_ready
from tests.processes import send

STOPPED_SECONDS = 3.0
LONGEST_ABSENCE_SECONDS = 1.0
# How often the next deed may come before all is mended, however slow the machine is.
UNMENDED = 0.3
# How often a fault comes, where there is one besides the kills.
FAULTS = 0.5


class Killer:
    """Does one deed after the other; which, to whom and for how long is the seed's choice."""

    def __init__(self, grounds: Grounds, servers: Sequence[Server], chance: Random) -> None:
        self._cluster = grounds.cluster
        self._valkey = grounds.valkey
        self._fault = grounds.fault
        self._servers = servers
        self._chance = chance
        self._wait = threading.Event().wait
        self._standing: list[threading.Timer] = []
        self.done: Counter[str] = Counter()
        self._kills: dict[str, Callable[[], None]] = {
            "worker killed": self.kill_worker,
            "server killed": self.kill_server,
            "PostgreSQL killed": self.kill_postgresql,
            "Valkey killed": self.kill_valkey,
            "worker stopped for 3 s": self.stop_worker,
        }
        self._faults = dict(grounds.fault.deeds(servers, chance))

    def strike(self) -> None:
        """Do one deed, and see that every server runs, or at times that it is on its way."""
        is_fault = self._faults and self._chance.random() < FAULTS
        deeds = self._faults if is_fault else self._kills
        deed = self._chance.choice(list(deeds))
        deeds[deed]()
        self.done[deed] += 1
        if self._chance.random() < UNMENDED:
            for server in self._servers:
                server.revive()
        else:
            wait_until_ready(self._servers)

    def kill_worker(self) -> None:
        """Kill a worker, which its server replaces."""
        for worker in self._any_server().workers:
            send(worker, signal.SIGKILL)

    def kill_server(self) -> None:
        server = self._any_server()
        server.kill()
        server.start()

    def kill_postgresql(self) -> None:
        self._cluster.kill()
        self._stay_away()
        self._cluster.start()

    def kill_valkey(self) -> None:
        self._valkey.terminate()
        self._stay_away()
        self._valkey.start()

    def stop_worker(self) -> None:
        """Let a worker stand still, and go on where it stood when everybody gave it up."""
        for worker in self._any_server().workers:
            send(worker, signal.SIGSTOP)
            going_on = threading.Timer(STOPPED_SECONDS, send, (worker, signal.SIGCONT))
            going_on.start()
            self._standing.append(going_on)

    def rest(self) -> None:
        """Wait until nothing stands still or fails any more and every server runs."""
        for going_on in self._standing:
            going_on.join()
        self._fault.calm()
        wait_until_ready(self._servers)

    def _any_server(self) -> Server:
        return self._chance.choice(self._servers)

    def _stay_away(self) -> None:
        self._wait(self._chance.uniform(0, LONGEST_ABSENCE_SECONDS))
