"""Every sentence of the interface that a test can hold, in the interface's order.

A sentence that two parts of the product make true stands once for each. Left out are the sentences
that say "not shown", and those about the document itself.
"""

from tests.requirements.authentication import AUTHENTICATION
from tests.requirements.endpoints import ENDPOINTS
from tests.requirements.errors import ERRORS
from tests.requirements.limits import LIMITS
from tests.requirements.mcp import MCP
from tests.requirements.requirement import Requirement
from tests.requirements.resources import RESOURCES
from tests.requirements.service import SERVICE
from tests.requirements.states import STATES

__all__ = ["REQUIREMENTS"]

REQUIREMENTS: tuple[Requirement, ...] = (
    *SERVICE,
    *RESOURCES,
    *STATES,
    *ENDPOINTS,
    *MCP,
    *AUTHENTICATION,
    *ERRORS,
    *LIMITS,
)
