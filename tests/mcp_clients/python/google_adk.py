"""Google ADK: the function declarations of a toolset, and what its tools return."""

import asyncio
import json
import os

from documented import toolset
from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.sessions import InMemorySessionService
from google.adk.tools import ToolContext


async def make_context():
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="test", user_id="test")
    invocation = InvocationContext(
        invocation_id="1",
        agent=LlmAgent(name="bookkeeper", tools=[toolset]),
        session=session,
        session_service=sessions,
    )
    return ToolContext(invocation)


async def main():
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    context = await make_context()
    results = [
        await tools[name].run_async(args=arguments, tool_context=context)
        for name, arguments in json.loads(os.environ["CALLS"])
    ]
    await toolset.close()
    return {
        "tools": {
            name: tool._get_declaration().parameters_json_schema for name, tool in tools.items()
        },
        "answers": [[each["isError"], each["content"][0]["text"]] for each in results],
    }


print(json.dumps(asyncio.run(main())))
