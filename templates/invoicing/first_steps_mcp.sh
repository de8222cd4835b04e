{% comment %}The same for Claude Code and the Inspector, for the same shell.{% endcomment %}
{% autoescape off %}
{% if authority %}export NODE_EXTRA_CA_CERTS="$CA"
{% endif %}claude mcp add --transport http invoicing {{ base_url }}/mcp \
  --header "Authorization: Bearer $CREDENTIAL"

npx @modelcontextprotocol/inspector@2.12.0 --cli {{ base_url }}/mcp --transport http \
  --stored-auth-only --header "Authorization: Bearer $CREDENTIAL" --method tools/list
{% endautoescape %}
