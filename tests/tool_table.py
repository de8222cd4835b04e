"""The interface's table of tools, copied by hand, which all tests of the tools use."""

from typing import NamedTuple

from invoicing.access import Permission


class Row(NamedTuple):
    method: str
    path: str
    module: str | None
    scope: str | None
    permissions: tuple[Permission, ...]
    writes: bool = False
    status: int = 200

    @property
    def route(self) -> tuple[str, str]:
        return self.method, self.path


CUSTOMERS = ("customers", "customers:read", (Permission.VIEW_CUSTOMER,))
READING = ("invoices", "invoices:read", (Permission.VIEW_DOCUMENT,))
DRAFTING = ("invoices", "invoices:prepare", (Permission.MANAGE,))
APPROVING = (Permission.VIEW_DOCUMENT, Permission.FINALIZE)
PREPARING = ("invoices", "invoices:execute", APPROVING)
ISSUING = ("invoices", "invoices:execute", (*APPROVING, Permission.MANAGE))
PEOPLE = ("people", "people:read", (Permission.VIEW_PERSON,))

TABLE = {
    "tools.list": Row("GET", "/api/v1/tools", None, None, ()),
    "customers.search": Row("GET", "/api/v1/customers", *CUSTOMERS),
    "documents.list": Row("GET", "/api/v1/documents", *READING),
    "documents.get": Row("GET", "/api/v1/documents/{id}", *READING),
    "documents.preview": Row("POST", "/api/v1/documents/preview", *READING),
    "drafts.create": Row("POST", "/api/v1/drafts", *DRAFTING, writes=True, status=201),
    "drafts.update": Row("PUT", "/api/v1/drafts/{id}", *DRAFTING, writes=True),
    "documents.issue_prepare": Row(
        "POST", "/api/v1/documents/{id}/issue-approvals", *PREPARING, writes=True, status=202
    ),
    "approvals.get": Row("GET", "/api/v1/approvals/{id}", *PREPARING),
    "documents.issue": Row("POST", "/api/v1/approvals/{id}/execute", *ISSUING, writes=True),
    "people.list": Row("GET", "/api/v1/people", *PEOPLE),
    "people.get": Row("GET", "/api/v1/people/{id}", *PEOPLE),
    "teams.list": Row("GET", "/api/v1/teams", *PEOPLE),
}

PAGE = ["search", "limit", "after"]
REQUIRED_OF_A_DRAFT = ["customer_id", "currency_code", "issue_date", "due_date", "line_items"]
DRAFT = [*REQUIRED_OF_A_DRAFT, "language", "notes", "reference"]
REQUIRED_OF_A_LINE = ["description", "quantity", "unit_price"]
LINE = [*REQUIRED_OF_A_LINE, "unit", "discount_type", "discount_value", "tax_rate_id"]

# The fields of each tool besides the ID in its path and the idempotency key, and the required ones.
FIELDS = {
    "customers.search": PAGE,
    "documents.list": PAGE,
    "documents.get": [],
    "documents.preview": DRAFT,
    "drafts.create": DRAFT,
    "drafts.update": [*DRAFT, "lock_version"],
    "documents.issue_prepare": ["lock_version"],
    "approvals.get": [],
    "documents.issue": ["nonce"],
    "people.list": [*PAGE, "team_id"],
    "people.get": [],
    "teams.list": PAGE,
}
REQUIRED = {
    "documents.preview": REQUIRED_OF_A_DRAFT,
    "drafts.create": REQUIRED_OF_A_DRAFT,
    "drafts.update": [*REQUIRED_OF_A_DRAFT, "lock_version"],
    "documents.issue_prepare": ["lock_version"],
    "documents.issue": ["nonce"],
}

SCOPES = tuple(dict.fromkeys(row.scope for row in TABLE.values() if row.scope))
# tools.list is a method of MCP, not a tool.
MCP_NAMES = [tool.replace(".", "_") for tool in TABLE if tool != "tools.list"]
LISTS = tuple(tool for tool, fields in FIELDS.items() if "after" in fields)
WITH_TARGET = tuple(tool for tool, row in TABLE.items() if "{id}" in row.path)
WITH_BODY = tuple(tool for tool, row in TABLE.items() if row.method != "GET")
WRITING = tuple(tool for tool, row in TABLE.items() if row.writes)
DRAFT_WRITES = ("drafts.create", "drafts.update")
TAKING_A_DRAFT = ("documents.preview", *DRAFT_WRITES)
ISSUE_TOOLS = tuple(tool for tool, row in TABLE.items() if row.scope == "invoices:execute")
