"""What the service does, and what it leaves alone."""

from tests.requirements.requirement import Part, Requirement

SERVICE = (
    Requirement(
        "service.delegated_user",
        Part.HTTP_TOOLS,
        "The service lets an external client act for one delegated user of an invoicing"
        " application.",
    ),
    Requirement("service.both_transports", Part.MCP, "It offers tools over HTTP and over MCP."),
    Requirement(
        "service.same_tools",
        Part.MCP,
        "Both use the same tools, grants and business actions.",
    ),
    Requirement(
        "service.tools",
        Part.HTTP_TOOLS,
        "The tools cover: customer search; document list, read and preview; draft create and"
        " update; preparing, reading and executing an invoice issue approval; people list and"
        " read; team list.",
    ),
    Requirement(
        "service.issue_tools",
        Part.ISSUING,
        "The tools cover: customer search; document list, read and preview; draft create and"
        " update; preparing, reading and executing an invoice issue approval; people list and"
        " read; team list.",
    ),
    Requirement(
        "service.not_offered",
        Part.HTTP_TOOLS,
        "The tools do not send documents, record payments, export files, or administer taxes and"
        " bank accounts.",
    ),
    Requirement("service.no_new_tax_rates", Part.HTTP_TOOLS, "They cannot create tax rates."),
    Requirement(
        "service.no_catalog_no_ledger",
        Part.HTTP_TOOLS,
        "No item-catalog endpoint and no full-ledger endpoint exists.",
    ),
    Requirement("access.starts_off", Part.HTTP_TOOLS, "Access starts off."),
    Requirement(
        "access.owner_decides",
        Part.OWNERS_DESK,
        "The owner turns access on and approves each connection.",
    ),
    Requirement(
        "access.delegate",
        Part.HTTP_TOOLS,
        "A connection acts as one active, non-guest user.",
    ),
    Requirement(
        "access.no_added_permission",
        Part.HTTP_TOOLS,
        "Its grants add no permission the user lacks.",
    ),
    Requirement(
        "access.record_scope",
        Part.HTTP_TOOLS,
        "Record access stays within that user's scope.",
    ),
    Requirement(
        "draft.only_a_draft",
        Part.HTTP_TOOLS,
        "A successful draft response means only that a draft exists.",
    ),
    Requirement(
        "draft.not_sent_not_paid",
        Part.HTTP_TOOLS,
        "It does not mean an invoice reached a client or that payment arrived.",
    ),
    Requirement(
        "issue.needs_approval",
        Part.ISSUING,
        "Issuing needs a prepared request that the delegated person approves in the application.",
    ),
    Requirement(
        "issue.proof",
        Part.ISSUING,
        "Only a successful execution, or the issued record, proves issuance.",
    ),
    Requirement(
        "issue.numbers_and_freezes",
        Part.ISSUING,
        "Executing an approval assigns the next invoice number and freezes the invoice.",
    ),
    Requirement(
        "issue.no_email_no_payment",
        Part.ISSUING,
        "It sends no email and records no payment.",
    ),
    Requirement(
        "demo_mode.draft_writes",
        Part.HTTP_TOOLS,
        "When demo mode is on, draft writes and invoice issue requests return 403.",
    ),
    Requirement(
        "demo_mode.issue_requests",
        Part.ISSUING,
        "When demo mode is on, draft writes and invoice issue requests return 403.",
    ),
    Requirement("demo_mode.reads", Part.HTTP_TOOLS, "Permitted reads and previews still work."),
    Requirement(
        "no_store.tools",
        Part.HTTP_TOOLS,
        "Every response carries `Cache-Control: no-store`.",
    ),
    Requirement(
        "no_store.pages",
        Part.ISSUING,
        "Every response carries `Cache-Control: no-store`.",
    ),
    Requirement("no_store.mcp", Part.MCP, "Every response carries `Cache-Control: no-store`."),
    Requirement(
        "no_store.sign_in",
        Part.SIGN_IN,
        "Every response carries `Cache-Control: no-store`.",
    ),
    Requirement(
        "permissions.checked_on_draft_writes",
        Part.HTTP_TOOLS,
        "Every mutating action is performed for the delegated user, so the user's current"
        " permissions are checked on each call, including retries.",
    ),
    Requirement(
        "permissions.checked_on_issue",
        Part.ISSUING,
        "Every mutating action is performed for the delegated user, so the user's current"
        " permissions are checked on each call, including retries.",
    ),
)
