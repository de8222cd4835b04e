"""The same tools for MCP clients."""

from tests.requirements.requirement import Part, Requirement

MCP = (
    Requirement("mcp.address", Part.MCP, "Address | `{base_url}/mcp`"),
    Requirement(
        "mcp.transport",
        Part.MCP,
        "Transport | Streamable HTTP; POST only; JSON responses; no standalone event stream",
    ),
    Requirement("mcp.get_and_delete", Part.MCP, "GET and DELETE | 405 when access is on"),
    Requirement(
        "mcp.message",
        Part.MCP,
        "Message | One JSON-RPC request or notification per call; arrays and client responses fail",
    ),
    Requirement("mcp.notification", Part.MCP, "Notification | Returns 202, no body"),
    Requirement(
        "mcp.supported",
        Part.MCP,
        "Supported | Tool discovery (`tools/list`, which gives granted tool schemas) and tool"
        " calls; no MCP resources, no prompts",
    ),
    Requirement(
        "mcp.tool_names",
        Part.MCP,
        "Tool names | Dots become underscores (documents.get becomes documents_get)",
    ),
    Requirement(
        "mcp.arguments",
        Part.MCP,
        "Arguments | Record calls put `id` in arguments; writing calls also put `idempotency_key`",
    ),
    Requirement(
        "mcp.success",
        Part.MCP,
        "Success | `structuredContent` with the same data as HTTP",
    ),
    Requirement(
        "mcp.tool_failure",
        Part.MCP,
        "Tool failure | `isError` set, with structured error data",
    ),
    Requirement(
        "mcp.protocol_failure",
        Part.MCP,
        "Auth and protocol failures | May return an HTTP error with a JSON-RPC error, not the"
        " tool-result envelope",
    ),
)
