"""What is measured of a project that lets agents in."""

from typing import Any, NamedTuple


class Way(NamedTuple):
    """A request that is measured: in which column of which row, and what is sent."""

    act: str
    name: str
    method: str
    path: str
    token: str
    body: Any = None
