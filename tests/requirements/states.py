"""What an approval and a document may become, and how."""

from tests.requirements.requirement import Part, Requirement

STATES = (
    Requirement(
        "approval.prepare",
        Part.ISSUING,
        "(none) | Prepare call (`POST /api/v1/documents/{id}/issue-approvals`) | Valid"
        " lock_version, permissions ok | awaiting decision | HTTP 202; nothing is issued;"
        " approval_id, nonce, review_url returned",
    ),
    Requirement(
        "approval.approve",
        Part.ISSUING,
        "awaiting decision | Delegated person clicks Approve issue in the application | Within 10"
        " minutes of preparation | `approved` | Execution becomes permitted",
    ),
    Requirement(
        "approval.reject",
        Part.ISSUING,
        "awaiting decision | Delegated person clicks Reject | | rejected | Execute returns"
        " `approval_rejected`",
    ),
    Requirement(
        "approval.execute",
        Part.ISSUING,
        "approved | Execute call with the right nonce and a new idempotency key | Within the"
        " window, draft unchanged, connection not revoked, permissions held | `executed` | Next"
        " invoice number assigned; invoice frozen; result holds the issued document and number",
    ),
    Requirement(
        "approval.identical_retry",
        Part.ISSUING,
        "executed | Identical retry | Same connection, same nonce, same execute key | `executed`"
        " | Stored result returned",
    ),
    Requirement(
        "approval.other_key",
        Part.ISSUING,
        "executed | Execute with a different key | | `executed` | Error `approval_used`",
    ),
    Requirement(
        "approval.execute_undecided",
        Part.ISSUING,
        "awaiting decision | Execute call | No decision yet | unchanged | Error `approval_pending`",
    ),
    Requirement(
        "approval.expires",
        Part.ISSUING,
        "any before executed | 10 minutes pass from preparation | | expired | Execute returns"
        " `approval_expired` (410)",
    ),
    Requirement(
        "approval.becomes_stale",
        Part.ISSUING,
        "any before executed | Draft changed after preparation | | stale | Execute returns"
        " `approval_stale`",
    ),
    Requirement(
        "approval.delegate_decides",
        Part.ISSUING,
        "Only the delegated person may approve or reject.",
    ),
    Requirement(
        "approval.others_cannot_decide",
        Part.ISSUING,
        "Another staff member cannot decide through the review link.",
    ),
    Requirement(
        "approval.foreign_or_wrong_nonce",
        Part.ISSUING,
        "Another connection's approval, or an incorrect nonce, returns 404.",
    ),
    Requirement(
        "document.draft_editable",
        Part.HTTP_TOOLS,
        "An editable invoice (draft) can be updated.",
    ),
    Requirement(
        "document.frozen",
        Part.HTTP_TOOLS,
        "Issue execution freezes the invoice with a number.",
    ),
)
