"""How much, how often and how long; retries and versions."""

from tests.requirements.requirement import Part, Requirement

LIMITS = (
    Requirement("limit.body", Part.HTTP_TOOLS, "Tool request body | 256 KiB"),
    Requirement("limit.per_connection", Part.HTTP_TOOLS, "Requests per connection | 60 per minute"),
    Requirement(
        "limit.per_address",
        Part.HTTP_TOOLS,
        "Requests per IP address | 60 per minute, shared by all clients behind that address",
    ),
    Requirement("limit.page", Part.HTTP_TOOLS, "Record list page | 1 to 50 records; default 25"),
    Requirement("limit.search", Part.HTTP_TOOLS, "Search text | 100 characters"),
    Requirement("limit.connection_expiry", Part.HTTP_TOOLS, "Connection expiry | 1 to 30 days"),
    Requirement("limit.lines", Part.HTTP_TOOLS, "Invoice lines | 1 to 100"),
    Requirement(
        "limit.approval_window",
        Part.ISSUING,
        "Invoice approval window | 10 minutes from preparation",
    ),
    Requirement("limit.line_description", Part.HTTP_TOOLS, "Line description | 1,000 characters"),
    Requirement("limit.line_unit", Part.HTTP_TOOLS, "Line unit | 20 characters"),
    Requirement("limit.quantity", Part.HTTP_TOOLS, "Quantity | positive, at most 4 decimal places"),
    Requirement("limit.unit_price", Part.HTTP_TOOLS, "Unit price | at most 18 digits"),
    Requirement("limit.notes", Part.HTTP_TOOLS, "Notes | 5,000 characters"),
    Requirement("limit.reference", Part.HTTP_TOOLS, "Reference | 100 characters"),
    Requirement(
        "limit.idempotency_key",
        Part.HTTP_TOOLS,
        "Idempotency key | 1 to 80 ASCII letters, digits, underscores or hyphens",
    ),
    Requirement(
        "limit.code_lifetime",
        Part.SIGN_IN,
        "Authorization code lifetime | 5 minutes, one exchange",
    ),
    Requirement(
        "limit.access_token_lifetime",
        Part.SIGN_IN,
        "Access token lifetime | up to 1 hour, capped by connection expiry",
    ),
    Requirement(
        "limit.return_addresses",
        Part.SIGN_IN,
        "Return addresses per registered client | 1 to 5",
    ),
    Requirement(
        "limit.sign_in_body",
        Part.SIGN_IN,
        "OAuth register, token and revoke body | 16 KiB",
    ),
    Requirement(
        "limit.registrations",
        Part.SIGN_IN,
        "OAuth registration | 10 per minute per IP address",
    ),
    Requirement(
        "limit.token_requests",
        Part.SIGN_IN,
        "OAuth token and revoke combined | 30 per minute per IP address",
    ),
    Requirement(
        "idempotency.identical_retry",
        Part.HTTP_TOOLS,
        "An identical retry (same key, same JSON values, same field order) returns the original"
        " response.",
    ),
    Requirement(
        "idempotency.other_call",
        Part.HTTP_TOOLS,
        "The same key with another payload or target returns 409 `conflict`.",
    ),
    Requirement(
        "idempotency.original_write",
        Part.HTTP_TOOLS,
        "A receipt describes the original write; read the document for its current status and"
        " version.",
    ),
    Requirement(
        "idempotency.executed_result",
        Part.ISSUING,
        "Executed approvals keep a separate stored result, returned only to the same connection,"
        " nonce and execute key.",
    ),
    Requirement(
        "versioning.path_prefix",
        Part.HTTP_TOOLS,
        "The HTTP API path prefix is `/api/v1`.",
    ),
    Requirement(
        "versioning.scope_groups",
        Part.HTTP_TOOLS,
        "Connections that hold individual pilot capabilities keep them; new connections use the"
        " scope groups.",
    ),
)
