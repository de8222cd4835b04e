"""What the servers of the harness took, by request and by way; a driver can wait for it."""

import re
import threading
from collections import defaultdict
from typing import Any

from tests.breaking.drivers.diary import Diary
from tests.breaking.drivers.moods import TAKES, Mood

APPROVAL = re.compile(r"/approvals/([0-9a-f-]{36})")
MAIL = "mail"


class Mailbox:
    """Notes in the diary each message that came, before anybody is told that it came."""

    def __init__(self, diary: Diary) -> None:
        self._diary = diary
        self._told = threading.Condition()
        # The browsers that left, of which somebody was told so.
        self.gone: set[str] = set()
        self._ways: dict[str, set[str]] = defaultdict(set)

    def take(self, way: str, text: str, mood: Mood, **more: Any) -> None:
        """Keep what was sent; `text` is all that somebody could read of it."""
        found = APPROVAL.search(text)
        approval_id = found[1] if found else ""
        told = {"way": way, "approval_id": approval_id, "mood": mood, "text": text, **more}
        self._diary.note("sent", **told, is_taken=mood in TAKES)

    def turn_away(self, way: str, *, is_told: bool = False) -> None:
        """Keep that something came for a browser that left, or that its sender was told so."""
        self._diary.note("gone" if is_told else "knocked", way=way)
        if is_told:
            self.gone.add(way)

    def confirm(self, way: str, text: str, *, seconds: float) -> None:
        """Keep that whoever sent it was told that it is taken, so long after they asked."""
        found = APPROVAL.search(text)
        approval_id = found[1] if found else ""
        self._diary.note("confirmed", way=way, approval_id=approval_id, seconds=seconds)
        with self._told:
            self._ways[approval_id].add(way)
            self._told.notify_all()

    def wait_for(self, approval_id: str, ways: set[str], *, seconds: float) -> bool:
        """Return whether it was told in all these ways before the time was over."""
        with self._told:
            return self._told.wait_for(lambda: ways <= self._ways[approval_id], timeout=seconds)
