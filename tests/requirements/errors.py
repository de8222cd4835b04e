"""What a refused call answers."""

from tests.requirements.requirement import Part, Requirement

ERRORS = (
    Requirement("error.code", Part.HTTP_TOOLS, "HTTP tool errors carry `error.code`."),
    Requirement(
        "error.fields",
        Part.HTTP_TOOLS,
        "Validation errors also carry `error.fields`, a list of field paths.",
    ),
    Requirement(
        "error.no_leaks",
        Part.HTTP_TOOLS,
        "Responses exclude exception messages and credentials.",
    ),
    Requirement(
        "error.unauthenticated",
        Part.HTTP_TOOLS,
        "401 | unauthenticated | Credential expired, revoked, user gone, or application URL"
        " changed",
    ),
    Requirement(
        "error.forbidden",
        Part.HTTP_TOOLS,
        "403 | forbidden | Not HTTPS, wrong host or port, Origin present, missing grant, missing"
        " permission, or demo mode on for a draft write or issue request",
    ),
    Requirement(
        "error.not_found",
        Part.HTTP_TOOLS,
        "404 | not_found | Access off, route or record missing, or record outside scope.",
    ),
    Requirement(
        "error.hidden_like_missing",
        Part.HTTP_TOOLS,
        "A hidden record and a missing record look the same.",
    ),
    Requirement(
        "error.foreign_approval",
        Part.ISSUING,
        "Another connection's approval or a wrong nonce also gives 404",
    ),
    Requirement("error.method_on_mcp", Part.MCP, "405 | (MCP) | GET or DELETE on the MCP address"),
    Requirement(
        "error.conflict",
        Part.HTTP_TOOLS,
        "409 | conflict | Stale lock_version, or an idempotency key reused with another payload"
        " or target. Read the latest version, review, use a new key",
    ),
    Requirement(
        "error.approval_pending",
        Part.ISSUING,
        "409 | approval_pending | Decision not yet made",
    ),
    Requirement(
        "error.approval_rejected",
        Part.ISSUING,
        "409 | approval_rejected | Delegated person rejected",
    ),
    Requirement(
        "error.approval_stale",
        Part.ISSUING,
        "409 | approval_stale | Draft changed after preparation; prepare a new request",
    ),
    Requirement(
        "error.approval_used",
        Part.ISSUING,
        "409 | approval_used | Approval already executed and a different execute key was sent;"
        " retry with the original key to retrieve the result",
    ),
    Requirement(
        "error.approval_expired",
        Part.ISSUING,
        "410 | approval_expired | Window of 10 minutes passed; prepare a new request",
    ),
    Requirement(
        "error.payload_too_large",
        Part.HTTP_TOOLS,
        "413 | payload_too_large | Tool body over 256 KiB",
    ),
    Requirement(
        "error.json_required",
        Part.HTTP_TOOLS,
        "415 | json_required | JSON content type missing",
    ),
    Requirement(
        "error.validation_failed",
        Part.HTTP_TOOLS,
        "422 | validation_failed | Invalid fields, named in error.fields; unknown draft fields"
        " also fail",
    ),
    Requirement(
        "error.rate_limited",
        Part.HTTP_TOOLS,
        "429 | rate_limited | Per-connection or per-IP limit exceeded; wait for the minute window",
    ),
    Requirement(
        "error.unavailable",
        Part.HTTP_TOOLS,
        "503 | unavailable | Retry with the same key if the earlier write may have succeeded",
    ),
    Requirement("error.stale_update", Part.HTTP_TOOLS, "A stale update changes nothing."),
    Requirement(
        "error.failure_stores_no_receipt",
        Part.HTTP_TOOLS,
        "A failed draft transaction stores no success receipt.",
    ),
    Requirement(
        "error.receipt_restores_nothing",
        Part.HTTP_TOOLS,
        "A retained receipt does not restore lost access.",
    ),
)
