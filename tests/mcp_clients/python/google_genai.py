"""The Google Gen AI SDK: the tools and the function responses of a config with a session."""

import asyncio
import json
import os

from documented import connect
from google.genai import types
from google.genai._extra_utils import (
    get_function_response_parts_async,
    parse_config_for_mcp_sessions,
)
from mcp import ClientSession


async def convert(session):
    return await parse_config_for_mcp_sessions(types.GenerateContentConfig(tools=[session]))


async def show_fault(session):
    """Return what becomes of the session as it is, without the documented way around."""
    plain = ClientSession.list_tools
    session.list_tools = lambda *args, **kwargs: plain(session, *args, **kwargs)
    try:
        await convert(session)
    except AttributeError as error:
        return f"AttributeError: {error}"
    finally:
        del session.list_tools


async def answer(adapters, name, arguments):
    call = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
    asked = types.GenerateContentResponse(
        candidates=[types.Candidate(content=types.Content(role="model", parts=[call]))]
    )
    (part,) = await get_function_response_parts_async(asked, adapters)
    ((outcome, result),) = part.model_dump(mode="json")["function_response"]["response"].items()
    return [outcome, result["content"][0]["text"]]


async def main():
    async with connect() as session:
        fault = await show_fault(session)
        config, adapters = await convert(session)
        calls = json.loads(os.environ["CALLS"])
        answers = [await answer(adapters, name, arguments) for name, arguments in calls]
    declared = [each for tool in config.tools for each in tool.function_declarations]
    return {
        "fault": fault,
        "tools": {
            each.name: each.parameters.model_dump(mode="json", exclude_none=True)
            for each in declared
        },
        "answers": answers,
    }


print(json.dumps(asyncio.run(main())))
