// The TypeScript client 2.x: what it settles on, lists, and gets from calls that succeed and fail.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const mode = process.argv[2].startsWith("pin:") ? { pin: process.argv[2].slice(4) } : process.argv[2];
const headers = { Authorization: `Bearer ${process.env.CREDENTIAL}` };
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), {
  requestInit: { headers },
});
await client.connect(transport);
const { tools } = await client.listTools();
const found = await client.callTool({ name: "customers_search", arguments: { search: "acme" } });
const refused = await client.callTool({ name: "teams_list", arguments: { limit: 0 } });
const unknown = await client.callTool({ name: "documents_delete" }).catch((error) => error.code);
console.log(
  JSON.stringify({
    revision: client.getNegotiatedProtocolVersion(),
    tools: tools.map((tool) => tool.name),
    found: found.structuredContent.data.map((customer) => customer.name),
    refused: [refused.isError, refused.structuredContent.error.code],
    unknown,
  }),
);
await client.close();
