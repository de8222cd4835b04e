"""The OpenAI Agents SDK: the function tools of an agent, with plain and with strict schemas."""

import asyncio
import json
import os

from agents import RunContextWrapper
from agents.tool_context import ToolContext
from documented import agent, server


async def list_tools():
    return {tool.name: tool for tool in await agent.get_mcp_tools(RunContextWrapper(None))}


async def call(tool, arguments):
    text = json.dumps(arguments)
    context = ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=text)
    return (await tool.on_invoke_tool(context, text))["text"]


async def main():
    async with server:
        tools = await list_tools()
        calls = json.loads(os.environ["CALLS"])
        answers = [await call(tools[name], arguments) for name, arguments in calls]
        agent.mcp_config = {"convert_schemas_to_strict": True}
        strict = await list_tools()
    return {
        "tools": {name: tool.params_json_schema for name, tool in tools.items()},
        "strict": {
            name: tool.params_json_schema
            for name, tool in strict.items()
            if tool.strict_json_schema
        },
        "answers": answers,
    }


print(json.dumps(asyncio.run(main())))
