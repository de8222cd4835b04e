"""The worker that tells people what waits for them."""

import signal
from threading import Event
from typing import Any

from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from agent_access.telling.worker import Worker


class Command(OperatorCommand):
    help = "Sends notifications and mails until SIGTERM or Ctrl-C; any number of them may run."

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        stopped = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        Worker().run(stopped)
