"""Records, their fields, and what an input may hold."""

from tests.requirements.requirement import Part, Requirement

RESOURCES = (
    Requirement(
        "customer.result",
        Part.HTTP_TOOLS,
        "Only active customers the user may access are returned, as an ID and a name.",
    ),
    Requirement("document.summaries", Part.HTTP_TOOLS, "A list returns summaries."),
    Requirement(
        "document.single_read",
        Part.HTTP_TOOLS,
        "A single read adds public notes, reference and line fields.",
    ),
    Requirement(
        "document.summary_fields",
        Part.HTTP_TOOLS,
        "A summary holds: type, status, number, draft code, customer ID, dates, currency,"
        " `lock_version` (integer), monetary strings, connection ID, `href`.",
    ),
    Requirement(
        "document.draft_without_number",
        Part.HTTP_TOOLS,
        "A new draft has no document number.",
    ),
    Requirement(
        "document.private_facts",
        Part.HTTP_TOOLS,
        "Internal notes, customer addresses, bank details, credentials and signed download links"
        " are never in document responses.",
    ),
    Requirement(
        "draft_input.customer_id",
        Part.HTTP_TOOLS,
        "customer_id | string (ID) | create, preview, update | Active customer the user may access",
    ),
    Requirement(
        "draft_input.currency_code",
        Part.HTTP_TOOLS,
        "currency_code | string | create, preview, update | Supported currency",
    ),
    Requirement(
        "draft_input.issue_date",
        Part.HTTP_TOOLS,
        "issue_date | string YYYY-MM-DD | create, preview, update",
    ),
    Requirement(
        "draft_input.due_date",
        Part.HTTP_TOOLS,
        "due_date | string YYYY-MM-DD | create, preview, update | Must not precede issue_date",
    ),
    Requirement(
        "draft_input.line_items",
        Part.HTTP_TOOLS,
        "line_items | array | create, preview, update | 1 to 100 lines",
    ),
    Requirement(
        "draft_input.language",
        Part.HTTP_TOOLS,
        "language | string | optional | Supported language code",
    ),
    Requirement(
        "draft_input.notes",
        Part.HTTP_TOOLS,
        "notes | string | optional | At most 5,000 characters",
    ),
    Requirement(
        "draft_input.reference",
        Part.HTTP_TOOLS,
        "reference | string | optional | At most 100 characters",
    ),
    Requirement(
        "draft_input.lock_version",
        Part.HTTP_TOOLS,
        "lock_version | integer | update only | Current version of the draft",
    ),
    Requirement(
        "draft_input.complete",
        Part.HTTP_TOOLS,
        "Every draft write sends the full header and the full line set.",
    ),
    Requirement(
        "draft_input.editable_invoice",
        Part.HTTP_TOOLS,
        "The document to update must be an editable invoice.",
    ),
    Requirement("draft_input.unknown_fields", Part.HTTP_TOOLS, "Unknown fields fail validation."),
    Requirement(
        "draft_input.service_owned_fields",
        Part.HTTP_TOOLS,
        "Clients must not submit totals, status, creator, document type, bank details, legal"
        " fields or frozen tax snapshots.",
    ),
    Requirement(
        "line_item.description",
        Part.HTTP_TOOLS,
        "description | yes | Text, 1 to 1,000 characters",
    ),
    Requirement(
        "line_item.quantity",
        Part.HTTP_TOOLS,
        "quantity | yes | Positive string, dot decimal, at most 4 decimal places",
    ),
    Requirement(
        "line_item.unit_price",
        Part.HTTP_TOOLS,
        "unit_price | yes | Unsigned string of minor units, at most 18 digits, no separators, no"
        " leading zeros except the single value 0",
    ),
    Requirement("line_item.unit", Part.HTTP_TOOLS, "unit | no | Text, at most 20 characters"),
    Requirement(
        "line_item.discount_type",
        Part.HTTP_TOOLS,
        "discount_type | no | `percent` or `amount`",
    ),
    Requirement(
        "line_item.discount_value",
        Part.HTTP_TOOLS,
        "discount_value | required when discount_type is present | Unsigned string.",
    ),
    Requirement(
        "line_item.discount_percent",
        Part.HTTP_TOOLS,
        "For `percent` it is in basis points (1000 means 10%).",
    ),
    Requirement(
        "line_item.discount_amount",
        Part.HTTP_TOOLS,
        "For `amount` it is in minor units of the invoice currency",
    ),
    Requirement(
        "line_item.tax_rate_id",
        Part.HTTP_TOOLS,
        "tax_rate_id | no | ID of an existing active tax rate",
    ),
    Requirement(
        "money.strings",
        Part.HTTP_TOOLS,
        "Money is exact and is sent as JSON strings of minor units.",
    ),
    Requirement(
        "money.no_numbers",
        Part.HTTP_TOOLS,
        "Floats and numeric money values are not accepted.",
    ),
    Requirement(
        "money.scale_and_totals",
        Part.HTTP_TOOLS,
        "The service picks the currency's minor-unit scale (for example 2 decimals for EUR and"
        " USD, 0 for JPY, 3 for BHD) and calculates all totals.",
    ),
    Requirement("money.clients_compute_nothing", Part.HTTP_TOOLS, "Clients do not compute totals."),
    Requirement(
        "money.preview_total",
        Part.HTTP_TOOLS,
        "The preview result carries `data.grand_total` as a minor-unit string.",
    ),
    Requirement("approval.created_by_prepare", Part.ISSUING, "Created by the prepare call."),
    Requirement(
        "approval.fields",
        Part.ISSUING,
        "Its fields include: `data.approval_id`, `data.nonce`, `data.review_url`, `status`, the"
        " customer, dates, exact totals and an expiry.",
    ),
    Requirement(
        "approval.window",
        Part.ISSUING,
        "The approval is valid 10 minutes from preparation.",
    ),
    Requirement(
        "approval.window_not_restarted",
        Part.ISSUING,
        "A decision does not restart the window.",
    ),
    Requirement("person.active_staff", Part.HTTP_TOOLS, "active staff, guests excluded"),
    Requirement(
        "person.fields",
        Part.HTTP_TOOLS,
        "Fields: name, work email, job title, skills, teams, manager, time zone.",
    ),
    Requirement(
        "person.working_hours",
        Part.HTTP_TOOLS,
        "A single read also gives weekly working hours.",
    ),
    Requirement(
        "person.private_facts",
        Part.HTTP_TOOLS,
        "Private contact details, rates, time-off records and sign-in settings are excluded.",
    ),
    Requirement("team.live", Part.HTTP_TOOLS, "live teams"),
    Requirement(
        "team.fields",
        Part.HTTP_TOOLS,
        "Fields: name, description, lead IDs, IDs of active staff members.",
    ),
    Requirement(
        "connection.credential",
        Part.HTTP_TOOLS,
        "An owner-approved, expiring credential bound to one user.",
    ),
    Requirement("connection.expiry", Part.HTTP_TOOLS, "Expiry is 1 to 30 days."),
    Requirement(
        "connection.grants",
        Part.HTTP_TOOLS,
        "It carries scope grants (see Authentication).",
    ),
    Requirement(
        "connection.evidence_retained",
        Part.HTTP_TOOLS,
        "Connection metadata, request receipts, approval results and audit evidence are retained"
        " after revocation.",
    ),
    Requirement(
        "connection.approval_results_retained",
        Part.ISSUING,
        "Connection metadata, request receipts, approval results and audit evidence are retained"
        " after revocation.",
    ),
)
