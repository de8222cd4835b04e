"""The lines for the official MCP clients work as they stand, but for address and certificate."""

import json
import os
import re
import shlex
import subprocess
import sys
from unicodedata import normalize

import pytest

from agent_access.tools import registry
from config.environment import PROJECT_FOLDER
from invoicing.management.commands import quickstart
from tests.mcp_clients.clients_page import ADDRESS, read_block
from tests.mcp_clients.node_packages import INSPECTOR, WANTED, run_node

# A customer of the sample company, who would be found with `./dev run` as well.
SEARCH = "altmuhl"

# What the clients see is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite


def fit(text, https_server):
    return text.replace(ADDRESS, https_server.mcp_url).replace(
        "var/ca.pem", str(https_server.authority)
    )


def test_the_lines_search_for_a_customer_of_the_sample_company():
    read = (PROJECT_FOLDER / "invoicing/sample_company/customers.csv").read_text(encoding="utf-8")
    assert f"\n{SEARCH}" in normalize("NFKD", read).encode("ascii", "ignore").decode().lower()
    assert f'{{"search": "{SEARCH}"}}' in read_block("Python", "python")
    assert f"search={SEARCH}" == quickstart.SEARCH


def test_the_page_names_the_inspector_that_is_tried_here():
    packages = json.loads((WANTED / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    tried = packages["node_modules/@modelcontextprotocol/inspector"]["version"]
    line = read_block("MCP Inspector", "sh")
    assert re.findall(r"@modelcontextprotocol/inspector@(\S+)", line) == [tried]


def test_the_lines_for_the_python_client_find_a_customer(https_server, agent, customer):
    done = subprocess.run(
        [sys.executable, "-"],
        input=fit(read_block("Python", "python").replace(SEARCH, "acme"), https_server),
        env={**os.environ, "CREDENTIAL": agent.credential},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert customer.name in done.stdout


def test_the_line_for_the_inspector_lists_the_tools(https_server, node_environment, agent):
    line = fit(read_block("MCP Inspector", "sh"), https_server)
    words = shlex.split(line.replace("\\\n", " ").replace("$CREDENTIAL", agent.credential))
    program = next(word for word in words if word.startswith("@modelcontextprotocol/inspector@"))
    arguments = words[words.index(program) + 1 :]
    done = run_node(INSPECTOR, *arguments, environment=node_environment)
    assert done.returncode == 0, done.stderr
    names = [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    assert names == [tool.mcp_name for tool in registry]
