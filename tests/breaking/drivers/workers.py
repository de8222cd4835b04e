"""The processes of `manage.py deliver`, of which one is killed now and then."""

import signal
import subprocess
import threading

from tests.breaking.drivers.commands import start_command
from tests.breaking.drivers.diary import Diary
from tests.breaking.drivers.driver import Site

WORKERS = 2
SHORTEST_LIFE, LONGEST_LIFE = 5.0, 35.0
ENDING_SECONDS = 20


class Workers:
    """Runs them; kills one at random, and starts another in its place, until it is to be calm."""

    def __init__(self, site: Site, diary: Diary) -> None:
        self._site, self._diary = site, diary
        self._chance = site.chance("workers")
        self._calm = threading.Event()
        self._running = [self._start() for _ in range(WORKERS)]
        self._thread = threading.Thread(target=self._disturb)
        if site.is_killing:
            self._thread.start()

    def calm(self) -> None:
        """Kill none any more, and see that all run."""
        self._leave_alone()
        self._revive()

    def stop(self) -> None:
        """End them as an operator does."""
        self._leave_alone()
        for process in self._running:
            process.send_signal(signal.SIGTERM)
        for process in self._running:
            try:
                process.wait(ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _leave_alone(self) -> None:
        self._calm.set()
        if self._thread.is_alive():
            self._thread.join()

    def _disturb(self) -> None:
        while not self._calm.wait(self._chance.uniform(SHORTEST_LIFE, LONGEST_LIFE)):
            process = self._chance.choice(self._running)
            process.kill()
            process.wait()
            self._diary.note("killed")
            self._revive()

    def _revive(self) -> None:
        """Start another in place of each that has ended, as a supervisor does."""
        for place, process in enumerate(self._running):
            if process.poll() is not None:
                self._running[place] = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        return start_command(self._site, "deliver", log=self._site.folder / "deliver.log")
