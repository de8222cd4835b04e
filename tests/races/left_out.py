"""What writes and is no act of the matrix, each with the reason; and acts that are refused."""

REFUSED = "It appends one event after what was refused is undone, as refusals in the matrix do."
BEFORE = "It runs before there is anybody else: while a company is set up or migrated."
PAGE = "It is a page around services of which each is an act of the matrix."

LEFT_OUT = {
    "agent_access/admission.py: Admission.record_refusal": REFUSED,
    "agent_access/approvals/views.py: give_options": PAGE,
    "agent_access/confirming.py: record_refusal": REFUSED,
    "agent_access/database/transactions.py: relaxed_commit": "SQLite has one writer.",
    "agent_access/database/triggers.py: drop": BEFORE,
    "agent_access/database/triggers.py: install": BEFORE,
    "agent_access/evidence/archives.py: remove_archived": "Only the owner of the tables may.",
    "agent_access/evidence/exporting.py: export_package": "It reads a snapshot, then appends.",
    "agent_access/http/agent_calls.py: AgentCalls.dispatch": "Other projects have such views.",
    "agent_access/oauth/consent.py: authorize": PAGE,
    "agent_access/passkeys/ruling.py: record_refusal": REFUSED,
    "agent_access/stamps.py: stamp_heads": "It waits for a stranger, and then appends an event.",
    "agent_access/telling/trying.py: send_test": "It waits for strangers in between.",
    "invoicing/models/people.py: UserManager.create_user": BEFORE,
    "invoicing/services/customers.py: change_customer": BEFORE,
    "invoicing/services/issued_totals.py: keep_totals": "It comes with each hundredth number.",
    "invoicing/services/issuing.py: issue_document": BEFORE,
}

# What an act is told that only asks for what it does not get.
ASKING_IN_VAIN = {
    "a thief refreshes by a former token": "400 invalid_grant",
    "an agent asks for what it may not": "409 conflict",
    "the person approves what is asked unsigned": "422",
}
