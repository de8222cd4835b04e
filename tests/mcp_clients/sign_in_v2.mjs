// The TypeScript client 2.x signs in: prints the address to open, reads the answer's parameters from
// standard input, then prints what it may call and what a refresh gives.
import { createInterface } from "node:readline/promises";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const url = new URL(process.env.MCP_URL);
const kept = {};
const provider = {
  get redirectUrl() { return process.env.RETURN_ADDRESS; },
  get clientMetadata() {
    return {
      client_name: "Ledger agent",
      redirect_uris: [process.env.RETURN_ADDRESS],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  },
  state: () => "a state of its own",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (address) => { console.log(address.href); },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
};

function open() {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  return { client, transport };
}

async function listTools() {
  const { client, transport } = open();
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}

const first = open();
const isStranger = await first.client.connect(first.transport).then(
  () => false,
  (error) => error instanceof UnauthorizedError,
);
const lines = createInterface({ input: process.stdin });
const answer = new URLSearchParams((await lines[Symbol.asyncIterator]().next()).value);
lines.close();
await first.transport.finishAuth(answer);
const tools = await listTools();
const before = kept.tokens;
kept.tokens = { ...kept.tokens, access_token: "iva_" + "A".repeat(43) };
const again = await listTools();
console.log(
  JSON.stringify({
    isStranger,
    tools,
    again,
    isRotated: kept.tokens.refresh_token !== before.refresh_token,
  }),
);
