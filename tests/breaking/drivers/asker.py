"""An agent that asks for an approval, and whose person decides once they were told of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from typing_extensions import override

from tests.breaking.drivers.mailbox import Mailbox
from tests.breaking.rounds import Client

# The service tells so many of one connection in ten minutes; more time, since it may be late.
MOST_ASKED, WINDOW_SECONDS = 3, 12 * 60


@dataclass
class Asker(Client):
    """Asks no oftener than its person is told, in these ways."""

    mailbox: Mailbox | None = None
    ways: frozenset[str] = frozenset()
    # How long a request is waited for while all is disturbed, in seconds.
    patience: float = 0
    note: Callable[..., None] = print
    untold: list[str] = field(default_factory=list)
    _told_at: list[float] = field(default_factory=list)

    def may_ask(self) -> bool:
        since = time.monotonic() - WINDOW_SECONDS
        return sum(each > since for each in self._told_at) < MOST_ASKED

    @override
    def _run(self, reference: str) -> None:
        draft = self._ask("drafts.create", self._draft(reference))
        approval = self._prepare(draft)
        approval_id: str = approval["approval_id"]
        self.note("asked", approval_id=approval_id, nonce=approval["nonce"])
        if not self._is_told(approval_id):
            # It waits on, until the time of the request is over.
            self.untold.append(approval_id)
            return
        self.note("deciding", approval_id=approval_id)
        self.caller.decide(approval_id, "approve")
        self._issue(approval)

    def _is_told(self, approval_id: str) -> bool:
        assert self.mailbox is not None
        is_told = self.mailbox.wait_for(approval_id, set(self.ways), seconds=self.patience)
        self._told_at.append(time.monotonic())
        return is_told
