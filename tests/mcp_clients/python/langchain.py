"""LangChain: the tools as chat models get them, and what a call returns, in one session and not."""

import asyncio
import json
import os

from documented import client, open_tools
from langchain_core.utils.function_calling import convert_to_openai_tool


async def call(tools, name, arguments):
    (tool,) = (each for each in tools if each.name == name)
    asked = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
    return await tool.ainvoke(asked)


async def main():
    calls = json.loads(os.environ["CALLS"])
    async with open_tools() as tools:
        answers = [await call(tools, *each) for each in calls]
    # Once more, without keeping a session.
    answers += [await call(await client.get_tools(), *calls[-1])]
    functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
    return {
        "tools": {function["name"]: function["parameters"] for function in functions},
        "answers": [[each.status, each.content[0]["text"]] for each in answers],
    }


print(json.dumps(asyncio.run(main())))
