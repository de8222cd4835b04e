"""Agents' libraries, connected as docs/clients.md says: the tools and answers that models get."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from config.environment import PROJECT_FOLDER
from invoicing.models import Document
from tests.mcp_clients import node_packages, python_packages
from tests.mcp_clients.clients_page import ADDRESS, PAGE, read_block
from tests.mcp_clients.node_packages import REMOTE, WANTED
from tests.tool_table import LINE, MCP_NAMES, REQUIRED_OF_A_LINE

# What the clients get is the same on both databases: once is enough.
pytestmark = [pytest.mark.sqlite, pytest.mark.prove]

MANY = 25
SESSION = ["initialize", "notifications/initialized"]


PRICE = (
    'must be a string of minor units, such as "12500" for 125.00 EUR, in at most 18 digits without'
    " leading zeros"
)


@pytest.fixture
def calls(draft_body) -> list[Any]:
    """A wrong price, many wrong prices, and the draft as it should be."""
    (line,) = draft_body["line_items"]
    wrong = {**line, "unit_price": "125.00"}
    drafts = [
        draft_body | {"line_items": [wrong]},
        draft_body | {"line_items": [wrong] * MANY},
        draft_body,
    ]
    return [
        ["drafts_create", draft | {"idempotency_key": f"key-{number}"}]
        for number, draft in enumerate(drafts)
    ]


@pytest.fixture
def ask(https_server, agent) -> Callable[..., Any]:
    """Return a function that asks the server without any library, and returns its result."""

    def post(method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {
            "Authorization": f"Bearer {agent.credential}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        body = json.dumps(message).encode()
        request = Request(https_server.mcp_url, body, headers)  # noqa: S310  https
        with urlopen(request, context=https_server.ssl_context) as answer:  # noqa: S310  https
            return json.load(answer)["result"]

    return post


@pytest.fixture
def schemas(ask, tax_rate) -> dict[str, Any]:
    """The input schemas as the server lists them, with the tax rate."""
    return {tool["name"]: tool["inputSchema"] for tool in ask("tools/list")["tools"]}


@pytest.fixture
def check_texts(ask, calls) -> Callable[..., None]:
    """Return a function that expects the server's whole refusals, and then one draft."""

    def check(refused: str, refused_often: str, created: str) -> None:
        for text, (name, arguments) in zip((refused, refused_often), calls, strict=False):
            answer = ask("tools/call", name=name, arguments=arguments)["structuredContent"]
            assert json.loads(text) == answer
            first = answer["error"]["problems"][0]
            assert first == {"field": "line_items.0.unit_price", "problem": PRICE}
        assert len(json.loads(refused_often)["error"]["problems"]) >= 20
        assert json.loads(created)["data"]["id"] == str(Document.objects.get().id)

    return check


@pytest.fixture
def shell(python_clients, https_server, agent, tmp_path) -> dict[str, str]:
    """The variables that the page's lines for a shell set, in a folder like that of `./dev run`."""
    (tmp_path / "var").mkdir()
    shutil.copy(https_server.authority, tmp_path / "var" / "ca.pem")
    block = PAGE.split("```console\n")[1].split("```")[0]
    lines = re.findall(r"^\$ (.*)$", block.replace("ivc_...", agent.credential), re.MULTILINE)
    done = subprocess.run(  # noqa: S603  our own command
        ["/bin/sh", "-euc", "\n".join([*lines, "env"])],
        cwd=tmp_path,
        env={"PATH": f"{python_packages.PYTHON.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = dict(line.split("=", 1) for line in done.stdout.splitlines())
    return {name: told[name] for name in ("CREDENTIAL", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")}


@pytest.fixture
def play(https_server, shell, calls):
    """Return a function that runs a script of python/ with the block of a section."""

    def run(script: str, heading: str, address: str = https_server.mcp_url) -> Any:
        return python_packages.run_script(
            script,
            documented=read_block(heading, "python").replace(ADDRESS, address),
            environment={**shell, "CALLS": json.dumps(calls)},
        )

    return run


def require_all(schema: Any) -> Any:
    """Return the schema as the OpenAI Agents SDK makes it strict."""
    if not isinstance(schema, dict):
        return schema
    strict = {key: require_all(inner) for key, inner in schema.items()}
    if isinstance(fields := schema.get("properties"), dict):
        strict["required"] = list(fields)
    return strict


def test_openai_agents_get_the_tools_and_refusals_in_words(play, schemas, check_texts):
    told = play("openai_agents.py", "OpenAI Agents SDK")
    assert list(told["tools"]) == MCP_NAMES
    assert told["tools"] == schemas
    assert told["strict"] == {name: require_all(schema) for name, schema in schemas.items()}
    check_texts(*told["answers"])


def test_gemini_gets_the_tools_and_refusals_in_words_past_the_fault_of_its_sdk(
    play, schemas, check_texts
):
    told = play("google_genai.py", "Google Gen AI SDK")
    assert f"`{told['fault']}`" in PAGE
    assert list(told["tools"]) == MCP_NAMES
    for name, declared in told["tools"].items():
        assert sorted(declared["properties"]) == sorted(schemas[name]["properties"])
        assert declared.get("required") == schemas[name].get("required")
    line = told["tools"]["drafts_create"]["properties"]["line_items"]["items"]
    assert (sorted(line["properties"]), line["required"]) == (sorted(LINE), REQUIRED_OF_A_LINE)
    outcomes, texts = zip(*told["answers"], strict=True)
    assert outcomes == ("error", "error", "result")
    check_texts(*texts)


def test_adk_gets_the_tools_and_refusals_in_words(play, schemas, check_texts):
    told = play("google_adk.py", "Google ADK")
    assert told["tools"] == schemas
    errors, texts = zip(*told["answers"], strict=True)
    assert errors == (True, True, False)
    check_texts(*texts)


def test_pydantic_ai_gets_the_tools_and_refusals_in_words(play, schemas, check_texts):
    told = play("pydantic_ai.py", "Pydantic AI")
    assert told["tools"] == schemas
    outcomes, texts = zip(*told["answers"], strict=True)
    assert outcomes == ("retried", "retried", "success")
    check_texts(*texts)


def test_langchain_gets_the_tools_and_refusals_in_words(play, schemas, check_texts, proxy):
    told = play("langchain.py", "LangChain", address=proxy.url)
    assert told["tools"] == schemas
    *kept, alone = told["answers"]
    statuses, texts = zip(*kept, strict=True)
    assert statuses == ("error", "error", "success")
    check_texts(*texts)
    assert alone == kept[-1]
    in_one_session = [*SESSION, "tools/list", *["tools/call"] * 3]
    without = [*SESSION, "tools/list", *SESSION, "tools/call", "tools/list"]
    assert proxy.methods == in_one_session + without


def test_the_ai_sdk_gets_the_tools_and_refusals_in_words(
    https_server, node_environment, shell, schemas, calls, check_texts
):
    told = node_packages.run_script(
        "ai_sdk.mjs",
        documented=read_block("AI SDK", "js").replace(ADDRESS, https_server.mcp_url),
        environment={**node_environment, **shell, "CALLS": json.dumps(calls)},
    )
    assert told["tools"] == schemas
    check_texts(*told["answers"])


def test_a_host_that_only_starts_programs_gets_the_tools_and_refusals_in_words(
    https_server, node_environment, schemas, calls, check_texts, tmp_path
):
    block = read_block("Hosts that only start programs", "json")
    (host,) = json.loads(block.replace(ADDRESS, https_server.mcp_url))["mcpServers"].values()
    environment = host["env"] | {
        "AUTHORIZATION": host["env"]["AUTHORIZATION"].replace(
            "ivc_...", node_environment["CREDENTIAL"]
        ),
        "NODE_EXTRA_CA_CERTS": node_environment["NODE_EXTRA_CA_CERTS"],
        "MCP_REMOTE_CONFIG_DIR": str(tmp_path),
    }
    program = StdioServerParameters(
        command=str(node_packages.find_node()),
        args=[str(node_packages.FOLDER / REMOTE), *host["args"][1:]],
        env=environment,
    )

    async def use() -> Any:
        async with Client(stdio_client(program)) as client:
            tools = (await client.list_tools()).tools
            results = [await client.call_tool(*call) for call in calls]
        return {tool.name: tool.input_schema for tool in tools}, results

    tools, results = anyio.run(use)
    assert tools == schemas
    assert [result.is_error for result in results] == [True, True, False]
    check_texts(*(result.content[0].text for result in results))


def test_the_tools_that_take_lines_name_the_active_tax_rates(schemas, tax_rate):
    for name in ("drafts_create", "drafts_update", "documents_preview"):
        line = schemas[name]["properties"]["line_items"]["items"]
        assert (
            f"\n{tax_rate.id}: VAT standard, 19 %"
            in line["properties"]["tax_rate_id"]["description"]
        )


def test_the_python_client_of_yesterday_calls_a_404_a_terminated_session(https_server, shell):
    told = python_packages.run_script(
        "wrong_address.py",
        documented=f'ADDRESS = "{https_server.mcp_url}/"',
        environment=shell,
    )
    assert told == "Session terminated"
    assert f"`{told}`" in PAGE


def test_the_page_names_the_versions_that_are_tried_here():
    # The official client of Python is one of the tests' own packages.
    own = PROJECT_FOLDER / "requirements-dev.txt"
    lock = python_packages.LOCK.read_text(encoding="utf-8") + own.read_text(encoding="utf-8")
    for name, version in re.findall(r"([\w-]+)(?:\[\w+\])?==([\w.]+)", PAGE):
        assert f"\n{name}=={version} " in lock
    packages = json.loads((WANTED / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, version in re.findall(r"(@ai-sdk/mcp|mcp-remote)@([\w.]+)", PAGE):
        assert packages[f"node_modules/{name}"]["version"] == version
