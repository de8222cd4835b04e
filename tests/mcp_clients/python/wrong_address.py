"""The official Python client 1.x where nothing is found: what its caller is told."""

import asyncio
import json

import httpx
from documented import ADDRESS
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client


async def main():
    async with (
        httpx.AsyncClient() as http,
        streamable_http_client(ADDRESS, http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        try:
            await session.initialize()
        except McpError as error:
            return str(error)


print(json.dumps(asyncio.run(main())))
