{% comment %}
The first walk of a person and an agent: the one copy of the lines to paste into a shell.

`./dev run` prints it, README shows it, docs/agents.md has the answers, and the owner's page of a new
connection has as much of it as the grants allow: each part builds on those before it. It goes through
bash, dash and zsh, line by line or all at once: it has `echo` for comments, which an interactive zsh
would run as commands, and `printf` for answers, whose backslashes some `echo` would read.
{% endcomment %}
{% autoescape off %}
API={{ base_url }}/api/v1
JSON='Content-Type: application/json'
KEY=first-$(date +%s)-$$
agent() {
  ANSWER=$(curl -sS{% if authority %} --cacert "$CA"{% endif %} -H "Authorization: Bearer $CREDENTIAL" "$@")
  printf '%s\n' "$ANSWER"
}
value() {
  printf '%s\n' "$ANSWER" | grep -o "\"$1\":\"[^\"]*" | head -n 1 | cut -d '"' -f 4
}

echo 'The tools that this connection may call; the whole answer also has their schemas.'
TOOLS=$(agent $API/tools)
printf '%s\n' "$TOOLS" | grep -o '"name":"[^"]*"'
{% if "customers:read" in grants %}
echo 'Find the customer.'
agent "$API/customers?{{ query }}"
CUSTOMER_ID=$(value id)
{% if "invoices:read" in grants %}
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
{% if "invoices:prepare" in grants %}
echo 'Create it. With the same key, this creates one draft however often it is sent.'
agent -H "$JSON" -H "Idempotency-Key: $KEY-create" -d "{$DRAFT}" $API/drafts
DRAFT_ID=$(value id)

echo 'Read it.'
agent $API/documents/$DRAFT_ID

echo 'Update it: the whole draft once more, and the version that was read.'
UPDATE="{\"lock_version\": 1, \"reference\": \"PO 7\", $DRAFT}"
agent -X PUT -H "$JSON" -H "Idempotency-Key: $KEY-update" -d "$UPDATE" $API/drafts/$DRAFT_ID
{% if "invoices:execute" in grants %}
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
{% endif %}{% endif %}{% endif %}{% endif %}
{% endautoescape %}
