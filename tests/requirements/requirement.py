"""What a sentence of the interface is to the tests."""

from dataclasses import dataclass
from enum import Enum


class Part(Enum):
    """A part of the product, in the order in which they are built."""

    HTTP_TOOLS = 1
    ISSUING = 2
    MCP = 3
    SIGN_IN = 4
    OWNERS_DESK = 5


@dataclass(frozen=True)
class Requirement:
    """A sentence, row or limit of the interface, in its words; cells are parted by bars."""

    id: str
    part: Part
    sentence: str
