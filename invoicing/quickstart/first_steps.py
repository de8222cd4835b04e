"""Shell lines to paste, which show an agent's calls and their answers."""

import shlex
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import quote

from invoicing.models import Customer, TaxRate
from invoicing.search.words import words_of

PAYMENT_DAYS = 30

LINES = """\
cd {folder}
CREDENTIAL={credential}
API={base_url}/api/v1
agent() {{ curl -sS -w '\\n' --cacert {authority} -H "Authorization: Bearer $CREDENTIAL" "$@"; }}
JSON='Content-Type: application/json'

# What may this connection do? Only the names are shown here; the answer also describes each tool.
agent $API/tools | grep -o '"name":"[^"]*"'

# Find a customer.
agent "$API/customers?search={search}"

# Calculate the totals of this draft. Nothing is saved.
DRAFT='"customer_id": "{customer_id}", "currency_code": "EUR",
  "issue_date": "{issue_date}", "due_date": "{due_date}",
  "line_items": [{{"description": "Consulting on site", "quantity": "1.5", "unit": "h",
    "unit_price": "12500", "tax_rate_id": "{tax_rate_id}"}}]'
agent -H "$JSON" -d "{{$DRAFT}}" $API/documents/preview

# Save it. With the same key, this line creates one draft however often it is sent.
ANSWER=$(agent -H "$JSON" -H 'Idempotency-Key: {key}-create' -d "{{$DRAFT}}" $API/drafts)
echo "$ANSWER"
DRAFT_ID=$(echo "$ANSWER" | sed 's/^{{"data":{{"id":"\\([^"]*\\)".*/\\1/')

# Read it again.
agent $API/documents/$DRAFT_ID

# List the documents, the oldest first.
agent "$API/documents?limit=3"

# Change it: the whole draft once more, and the version that was read.
agent -X PUT -H "$JSON" -H 'Idempotency-Key: {key}-update' \\
  -d "{{\\"lock_version\\": 1, \\"reference\\": \\"PO 7\\", $DRAFT}}" $API/drafts/$DRAFT_ID

# Ask for its issue. Open review_url in a browser, sign in, and choose "Approve issue".
ANSWER=$(agent -H "$JSON" -H 'Idempotency-Key: {key}-prepare' -d '{{"lock_version": 2}}' \\
  $API/documents/$DRAFT_ID/issue-approvals)
echo "$ANSWER"
APPROVAL_ID=$(echo "$ANSWER" | sed 's/.*"approval_id":"\\([^"]*\\)".*/\\1/')
NONCE=$(echo "$ANSWER" | sed 's/.*"nonce":"\\([^"]*\\)".*/\\1/')

# Once it is approved, and within ten minutes, this gives the invoice its number permanently.
agent $API/approvals/$APPROVAL_ID
agent -H "$JSON" -H 'Idempotency-Key: {key}-issue' -d "{{\\"nonce\\": \\"$NONCE\\"}}" \\
  $API/approvals/$APPROVAL_ID/execute
"""
FOR_MCP = """\
export NODE_EXTRA_CA_CERTS=$PWD/{authority}
claude mcp add --transport http invoicing {base_url}/mcp \\
  --header "Authorization: Bearer $CREDENTIAL"
npx @modelcontextprotocol/inspector@2.12.0 --cli {base_url}/mcp --transport http \\
  --stored-auth-only --header "Authorization: Bearer $CREDENTIAL" --method tools/list
"""


@dataclass(frozen=True, kw_only=True)
class FirstSteps:
    """What the lines need: where the service is, records for a first draft, and a fresh key."""

    folder: Path
    authority: Path
    base_url: str
    customer: Customer
    tax_rate: TaxRate
    today: date
    key: str

    def write(self, credential: str) -> str:
        """Return the lines for bash, to paste one by one or all at once."""
        return LINES.format(
            folder=shlex.quote(str(self.folder)),
            credential=credential,
            authority=self._authority,
            base_url=self.base_url,
            search=quote("".join(words_of(self.customer.name)[:1])),  # a name may be an emoji
            customer_id=self.customer.id,
            tax_rate_id=self.tax_rate.id,
            issue_date=self.today,
            due_date=self.today + timedelta(days=PAYMENT_DAYS),
            key=self.key,
        )

    def write_for_mcp(self) -> str:
        """Return the lines for Claude Code and the Inspector, which go on in the same shell."""
        return FOR_MCP.format(authority=self._authority, base_url=self.base_url)

    @property
    def _authority(self) -> Path:
        return self.authority.relative_to(self.folder)
