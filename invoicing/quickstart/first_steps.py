"""The first walk of a person and an agent: the one copy of the lines to paste into a shell.

`./dev run` prints it, README shows it, docs/agents.md has the answers, and the owner's page of a
new connection has as much of it as the grants allow. It goes through bash, dash and zsh, line by
line or all at once: it has `echo` for comments, which an interactive zsh would run as commands,
and `printf` for answers, whose backslashes some `echo` would read.
"""

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

START = r"""
API={base_url}/api/v1
JSON='Content-Type: application/json'
KEY=first-$(date +%s)
agent() {{
  ANSWER=$(curl -sS{trust} -H "Authorization: Bearer $CREDENTIAL" "$@")
  printf '%s\n' "$ANSWER"
}}
value() {{
  printf '%s\n' "$ANSWER" | grep -o "\"$1\":\"[^\"]*" | head -n 1 | cut -d '"' -f 4
}}

echo 'The tools that this connection may call; the whole answer also has their schemas.'
TOOLS=$(agent $API/tools)
printf '%s\n' "$TOOLS" | grep -o '"name":"[^"]*"'
"""
FIND = r"""
echo 'Find the customer.'
agent "$API/customers?QUERY"
CUSTOMER_ID=$(value id)
"""
PREVIEW = r"""
echo 'Take a tax rate: they are in the schema of a draft.'
RATES=$(printf '%s\n' "$TOOLS" | grep -o '"tax_rate_id":{[^}]*}' | head -n 1)
printf '%s\n' "$RATES"
TAX_RATE=$(printf '%s\n' "$RATES" | grep -o '"enum":\[[^],]*' | cut -d '[' -f 2)

echo 'Preview a draft, which saves nothing. A unit price of 12500 is 125.00 EUR.'
TODAY=$(date +%F)
DRAFT=$(cat <<END
"customer_id": "$CUSTOMER_ID", "currency_code": "EUR",
"issue_date": "$TODAY", "due_date": "$TODAY",
"line_items": [{"description": "Consulting on site", "quantity": "1.5", "unit": "h",
  "unit_price": "12500", "tax_rate_id": $TAX_RATE}]
END
)
agent -H "$JSON" -d "{$DRAFT}" $API/documents/preview
"""
WRITE = r"""
echo 'Create it. With the same key, this creates one draft however often it is sent.'
agent -H "$JSON" -H "Idempotency-Key: $KEY-create" -d "{$DRAFT}" $API/drafts
DRAFT_ID=$(value id)

echo 'Read it.'
agent $API/documents/$DRAFT_ID

echo 'Update it: the whole draft once more, and the version that was read.'
UPDATE="{\"lock_version\": 1, \"reference\": \"PO 7\", $DRAFT}"
agent -X PUT -H "$JSON" -H "Idempotency-Key: $KEY-update" -d "$UPDATE" $API/drafts/$DRAFT_ID
"""
ISSUE = r"""
echo 'Prepare its issue: the person opens the address in the last line, and approves.'
PREPARE=$API/documents/$DRAFT_ID/issue-approvals
agent -H "$JSON" -H "Idempotency-Key: $KEY-prepare" -d '{"lock_version": 2}' $PREPARE
APPROVAL_ID=$(value approval_id)
NONCE=$(value nonce)
value review_url

echo 'Execute, once the status is approved and within ten minutes of preparing.'
agent $API/approvals/$APPROVAL_ID
EXECUTE=$API/approvals/$APPROVAL_ID/execute
agent -H "$JSON" -H "Idempotency-Key: $KEY-issue" -d "{\"nonce\": \"$NONCE\"}" $EXECUTE
"""
FOR_MCP = r"""
claude mcp add --transport http invoicing {base_url}/mcp \
  --header "Authorization: Bearer $CREDENTIAL"

npx @modelcontextprotocol/inspector@2.12.0 --cli {base_url}/mcp --transport http \
  --stored-auth-only --header "Authorization: Bearer $CREDENTIAL" --method tools/list
"""


class Step(NamedTuple):
    """Lines that build on those before them, and the scope that they need besides."""

    scope: str
    lines: str


STEPS = (
    Step("customers:read", FIND),
    Step("invoices:read", PREVIEW),
    Step("invoices:prepare", WRITE),
    Step("invoices:execute", ISSUE),
)


@dataclass(frozen=True, kw_only=True)
class FirstSteps:
    """What the lines depend on: where the service is, a connection, and how a customer is found.

    `authority` is the certificate authority that only this machine knows, if there is one.
    """

    base_url: str
    credential: str
    grants: Collection[str]
    query: str = "limit=1"
    authority: Path | None = None

    def write_secrets(self) -> str:
        """Return the first lines, which set what only this connection and this machine have."""
        trust = f"CA={shlex.quote(str(self.authority))}\n" if self.authority else ""
        return f"CREDENTIAL={self.credential}\n{trust}"

    def write(self) -> str:
        """Return the lines that follow them, as far as the grants reach."""
        trust = ' --cacert "$CA"' if self.authority else ""
        steps = takewhile(lambda step: step.scope in self.grants, STEPS)
        return START.lstrip().format(base_url=shlex.quote(self.base_url), trust=trust) + "".join(
            step.lines.replace("QUERY", self.query) for step in steps
        )

    def write_for_mcp(self) -> str:
        """Return the lines for Claude Code and the Inspector, for the same shell."""
        trust = 'export NODE_EXTRA_CA_CERTS="$CA"\n' if self.authority else ""
        return trust + FOR_MCP.lstrip().format(base_url=shlex.quote(self.base_url))
