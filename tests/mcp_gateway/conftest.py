"""Agents over MCP: in the modern revision, in a legacy one, and in each of them."""

from typing import Any

import pytest

from tests.agents import HttpAgent
from tests.mcp_agent import LEGACY, MODERN, McpAgent


@pytest.fixture
def agent_class() -> type[HttpAgent]:
    return McpAgent


@pytest.fixture
def legacy(agent: McpAgent) -> McpAgent:
    return McpAgent(agent.credential, version=LEGACY[-1])


@pytest.fixture(params=[*LEGACY, MODERN])
def speaker(agent: McpAgent, request: Any) -> McpAgent:
    """The delegate's agent in each revision."""
    return McpAgent(agent.credential, version=request.param)


@pytest.fixture
def http(agent: McpAgent) -> HttpAgent:
    """The same connection over HTTP."""
    return HttpAgent(agent.credential)
