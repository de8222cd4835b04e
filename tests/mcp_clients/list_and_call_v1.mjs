// The TypeScript SDK 1.x, as many hosts still carry it.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const headers = { Authorization: `Bearer ${process.env.CREDENTIAL}` };
const client = new Client({ name: "test", version: "1" });
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
    revision: transport.protocolVersion,
    tools: tools.map((tool) => tool.name),
    found: found.structuredContent.data.map((customer) => customer.name),
    refused: [refused.isError, refused.structuredContent.error.code],
    unknown,
  }),
);
await client.close();
