"""The time, asked for when it counts: after the locks that somebody may have waited for."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
