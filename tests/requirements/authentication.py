"""Credentials, scopes, browser sign-in, and how access ends."""

from tests.requirements.requirement import Part, Requirement

AUTHENTICATION = (
    Requirement(
        "sign_in.resource_metadata",
        Part.SIGN_IN,
        "GET /.well-known/oauth-protected-resource/mcp | Protected resource metadata; the root"
        " variant also works",
    ),
    Requirement(
        "sign_in.server_metadata",
        Part.SIGN_IN,
        "GET /.well-known/oauth-authorization-server | Authorization server metadata",
    ),
    Requirement(
        "sign_in.register",
        Part.SIGN_IN,
        "POST /oauth/register | Register a public client",
    ),
    Requirement(
        "sign_in.authorize",
        Part.SIGN_IN,
        "GET /oauth/authorize | Open the owner consent page",
    ),
    Requirement(
        "sign_in.token",
        Part.SIGN_IN,
        "POST /oauth/token | Exchange a code or rotate a refresh token",
    ),
    Requirement("sign_in.revoke", Part.SIGN_IN, "POST /oauth/revoke | Revoke a token"),
    Requirement(
        "authentication.credential",
        Part.HTTP_TOOLS,
        "Every tool request sends `Authorization: Bearer <ACCESS_TOKEN>` (a pasted connection"
        " credential, or an access token from browser sign-in).",
    ),
    Requirement(
        "authentication.access_token",
        Part.SIGN_IN,
        "Every tool request sends `Authorization: Bearer <ACCESS_TOKEN>` (a pasted connection"
        " credential, or an access token from browser sign-in).",
    ),
    Requirement(
        "authentication.header_only",
        Part.HTTP_TOOLS,
        "Cookies and URL parameters never authenticate.",
    ),
    Requirement(
        "authentication.refused",
        Part.HTTP_TOOLS,
        "Missing, expired or revoked credentials, a deactivated delegated user, or a wrong"
        " application URL give 401 `unauthenticated`.",
    ),
    Requirement(
        "authentication.scopes",
        Part.HTTP_TOOLS,
        "Scope groups: `customers:read`, `invoices:read`, `invoices:prepare`, `invoices:execute`,"
        " `people:read`.",
    ),
    Requirement(
        "authentication.execute_scope",
        Part.ISSUING,
        "Scope groups: `customers:read`, `invoices:read`, `invoices:prepare`, `invoices:execute`,"
        " `people:read`.",
    ),
    Requirement(
        "authentication.pilot_capabilities",
        Part.HTTP_TOOLS,
        "Older connections holding individual pilot capabilities keep them.",
    ),
    Requirement(
        "authentication.current_permissions",
        Part.HTTP_TOOLS,
        "Calls also need the delegated user's current permissions; revocation and permission"
        " checks apply to retries.",
    ),
    Requirement(
        "authentication.owner_creates_connections",
        Part.OWNERS_DESK,
        "The owner creates a connection in the agent connections settings with an expiry of 1 to"
        " 30 days.",
    ),
    Requirement(
        "sign_in.switch",
        Part.SIGN_IN,
        "Browser sign-in has its own owner-controlled switch.",
    ),
    Requirement("sign_in.pkce", Part.SIGN_IN, "authorization code with PKCE S256"),
    Requirement(
        "sign_in.owner_checks_client",
        Part.SIGN_IN,
        "The owner checks the client and return address before allowing access.",
    ),
    Requirement(
        "sign_in.unknown_client",
        Part.SIGN_IN,
        "An unknown client or unregistered return address gets an error page and no redirect.",
    ),
    Requirement(
        "sign_in.resource_named",
        Part.SIGN_IN,
        "Discovery names `{base_url}/mcp` as the resource.",
    ),
    Requirement(
        "sign_in.resource_sent",
        Part.SIGN_IN,
        "Send that resource when starting authorization and when exchanging and refreshing tokens.",
    ),
    Requirement(
        "sign_in.public_clients",
        Part.SIGN_IN,
        "Public clients use dynamic registration or a supported HTTPS Client ID Metadata Document.",
    ),
    Requirement(
        "sign_in.return_addresses",
        Part.SIGN_IN,
        "A registered client has 1 to 5 return addresses: HTTPS, or HTTP on localhost, 127.0.0.1"
        " or [::1]; they must match the registered address and hold no fragment.",
    ),
    Requirement(
        "sign_in.code",
        Part.SIGN_IN,
        "Authorization codes last 5 minutes and permit one exchange.",
    ),
    Requirement(
        "sign_in.access_token",
        Part.SIGN_IN,
        "Access tokens last up to 1 hour, capped by the connection's expiry.",
    ),
    Requirement("sign_in.rotation", Part.SIGN_IN, "Refresh tokens rotate."),
    Requirement(
        "sign_in.reuse",
        Part.SIGN_IN,
        "Reusing a code or a rotated refresh token revokes its connection.",
    ),
    Requirement(
        "sign_in.refresh_token_calls_nothing",
        Part.SIGN_IN,
        "A refresh token never authenticates a tool call.",
    ),
    Requirement(
        "sign_in.errors",
        Part.SIGN_IN,
        "OAuth errors use the field `error` (for example `invalid_grant`).",
    ),
    Requirement(
        "revocation.stops_calls",
        Part.HTTP_TOOLS,
        "Revoking a connection stops its future calls.",
    ),
    Requirement(
        "revocation.access_off",
        Part.HTTP_TOOLS,
        "Turning agent access off revokes all connections.",
    ),
    Requirement(
        "revocation.sign_in_off",
        Part.SIGN_IN,
        "Turning browser sign-in off revokes browser connections.",
    ),
    Requirement(
        "revocation.other_endings",
        Part.HTTP_TOOLS,
        "Expiry, user deactivation, session-revoking permission changes, owner transfer or a"
        " changed application URL can also stop access.",
    ),
    Requirement(
        "revocation.evidence_remains",
        Part.HTTP_TOOLS,
        "Saved drafts, issued originals, connection metadata, receipts, approval results and"
        " audit evidence remain.",
    ),
    Requirement(
        "revocation.approval_results_remain",
        Part.ISSUING,
        "Saved drafts, issued originals, connection metadata, receipts, approval results and"
        " audit evidence remain.",
    ),
)
