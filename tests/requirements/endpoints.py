"""The rules of every endpoint, and the tools over HTTP."""

from tests.requirements.requirement import Part, Requirement

ENDPOINTS = (
    Requirement(
        "transport.base_url",
        Part.HTTP_TOOLS,
        "Use HTTPS, with the host and port of `{base_url}`.",
    ),
    Requirement(
        "transport.accept",
        Part.HTTP_TOOLS,
        "HTTP requests send `Accept: application/json`.",
    ),
    Requirement(
        "transport.json",
        Part.HTTP_TOOLS,
        "POST and PUT send `Content-Type: application/json`, else 415 `json_required`.",
    ),
    Requirement("transport.origin", Part.HTTP_TOOLS, "A request with an `Origin` header fails."),
    Requirement(
        "transport.base_url_for_sign_in",
        Part.SIGN_IN,
        "Use HTTPS, with the host and port of `{base_url}`.",
    ),
    Requirement(
        "transport.origin_at_sign_in",
        Part.SIGN_IN,
        "A request with an `Origin` header fails.",
    ),
    Requirement(
        "idempotency.key_header",
        Part.HTTP_TOOLS,
        "Every writing call carries an idempotency key: header `Idempotency-Key` over HTTP,"
        " argument `idempotency_key` in MCP.",
    ),
    Requirement(
        "idempotency.key_argument",
        Part.MCP,
        "Every writing call carries an idempotency key: header `Idempotency-Key` over HTTP,"
        " argument `idempotency_key` in MCP.",
    ),
    Requirement("list.shape", Part.HTTP_TOOLS, "Record lists return `data` and `next`."),
    Requirement(
        "list.cursor",
        Part.HTTP_TOOLS,
        "Pass `next` as the `after` cursor of the following request.",
    ),
    Requirement("list.last_page", Part.HTTP_TOOLS, "A null `next` means the last page."),
    Requirement("list.order", Part.HTTP_TOOLS, "Order is by ID."),
    Requirement("list.no_count", Part.HTTP_TOOLS, "No total count is disclosed."),
    Requirement(
        "tool.tools_list",
        Part.HTTP_TOOLS,
        "GET /api/v1/tools | | (any valid connection) | Returns granted tools of modules that are"
        " on: HTTP method, path, scope, input schema per entry",
    ),
    Requirement(
        "tool.customers_search",
        Part.HTTP_TOOLS,
        "GET /api/v1/customers | customers_search | customers:read | Query: search (up to 100"
        " chars), limit (1 to 50, default 25), after. Returns active permitted customer IDs and"
        " names",
    ),
    Requirement(
        "tool.documents_list",
        Part.HTTP_TOOLS,
        "GET /api/v1/documents | documents_list | invoices:read | Query: search, limit, after."
        " Returns summaries",
    ),
    Requirement(
        "tool.documents_get",
        Part.HTTP_TOOLS,
        "GET /api/v1/documents/{id} | documents_get | invoices:read | Returns the document with"
        " public notes, reference, lines",
    ),
    Requirement(
        "tool.documents_preview",
        Part.HTTP_TOOLS,
        "POST /api/v1/documents/preview | documents_preview | invoices:read | Body: draft input"
        " without lock_version. Returns calculated totals, including data.grand_total.",
    ),
    Requirement("tool.documents_preview_saves_nothing", Part.HTTP_TOOLS, "Saves nothing"),
    Requirement(
        "tool.drafts_create",
        Part.HTTP_TOOLS,
        "POST /api/v1/drafts | drafts_create | invoices:prepare | Body: draft input. Idempotency"
        " key required. Returns the draft, including data.href",
    ),
    Requirement(
        "tool.drafts_update",
        Part.HTTP_TOOLS,
        "PUT /api/v1/drafts/{id} | drafts_update | invoices:prepare | Body: full draft input plus"
        " lock_version. Idempotency key required.",
    ),
    Requirement("tool.drafts_update_new_key", Part.HTTP_TOOLS, "New key per operation"),
    Requirement(
        "tool.documents_issue_prepare",
        Part.ISSUING,
        "POST /api/v1/documents/{id}/issue-approvals | documents_issue_prepare | invoices:execute"
        " | Body: lock_version (integer). Idempotency key required. HTTP 202. Returns"
        " data.approval_id, data.nonce, data.review_url, customer, dates, exact totals, expiry",
    ),
    Requirement(
        "tool.approvals_get",
        Part.ISSUING,
        "GET /api/v1/approvals/{id} | approvals_get | invoices:execute | Returns the approval and"
        " its status",
    ),
    Requirement(
        "tool.documents_issue",
        Part.ISSUING,
        "POST /api/v1/approvals/{id}/execute | documents_issue | invoices:execute | Body: nonce"
        " (string). Idempotency key required. Returns the issued document and number",
    ),
    Requirement(
        "tool.people_list",
        Part.HTTP_TOOLS,
        "GET /api/v1/people | people_list | people:read | Query: search, limit, after, optional"
        " team_id",
    ),
    Requirement(
        "tool.people_get",
        Part.HTTP_TOOLS,
        "GET /api/v1/people/{id} | people_get | people:read | Person, with weekly working hours",
    ),
    Requirement(
        "tool.teams_list",
        Part.HTTP_TOOLS,
        "GET /api/v1/teams | teams_list | people:read | Query: search, limit, after",
    ),
    Requirement(
        "issue.scope_and_permission",
        Part.ISSUING,
        "The three issue tools need scope `invoices:execute`, plus the user permission"
        " `invoices.finalize`.",
    ),
    Requirement(
        "issue.execute_rechecks_manage",
        Part.ISSUING,
        "Execution also rechecks `invoices.manage`.",
    ),
    Requirement(
        "issue.custom_role",
        Part.ISSUING,
        "A custom role needs both, plus access to the invoice.",
    ),
    Requirement("issue.one_invoice", Part.ISSUING, "They handle one invoice at a time."),
    Requirement(
        "issue.mcp_id",
        Part.MCP,
        "In MCP the `id` argument of prepare is the document ID; for approvals_get and"
        " documents_issue it is the approval ID.",
    ),
    Requirement(
        "tool.grant_is_no_guarantee",
        Part.HTTP_TOOLS,
        "A listed grant does not guarantee that each record or action is available.",
    ),
    Requirement("workflow.read_draft", Part.ISSUING, "Read the draft and its latest lock_version."),
    Requirement(
        "workflow.prepare",
        Part.ISSUING,
        "POST the prepare body with a new Idempotency-Key.",
    ),
    Requirement(
        "workflow.show_review_url",
        Part.ISSUING,
        "Show data.review_url to the delegated person; keep approval_id and nonce.",
    ),
    Requirement(
        "workflow.wait_for_approval",
        Part.ISSUING,
        "GET the approval; proceed when its status is `approved`.",
    ),
    Requirement(
        "workflow.execute",
        Part.ISSUING,
        "POST the execute body (nonce) with a new Idempotency-Key, within the window.",
    ),
    Requirement(
        "workflow.execution_conflict",
        Part.ISSUING,
        "After an execution conflict, read the approval and the document; do not assume anything"
        " was issued.",
    ),
)
