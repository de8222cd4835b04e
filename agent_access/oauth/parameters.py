"""Parameters of OAuth requests: each at most once, readable, and only those that we know."""

from collections.abc import Collection
from urllib.parse import parse_qsl

from oauthlib.common import urlencode

SHARED = frozenset({"client_id", "redirect_uri", "resource", "scope"})
AUTHORIZE = SHARED | {
    "code_challenge",
    "code_challenge_method",
    "response_mode",
    "response_type",
    "state",
}
TOKEN = SHARED | {"code", "code_verifier", "grant_type", "refresh_token"}
REVOKE = frozenset({"client_id", "token", "token_type_hint"})

# RFC 8707 lets it be repeated; `server` checks all its values.
REPEATABLE = "resource"
MAX_PARAMETERS = 100


class UnreadableParametersError(Exception):
    """Not UTF-8, a NUL, a repeated parameter (RFC 6749 section 3.1), or far too many."""


def clean_parameters(text: str, known: Collection[str]) -> str:
    """Return the known parameters of a query or form, encoded as oauthlib wants them.

    Unknown ones are ignored (RFC 6749 section 3.1): oauthlib would make them attributes of its
    request. Raises UnreadableParametersError.
    """
    try:
        pairs = parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS
        )
    except ValueError:
        raise UnreadableParametersError from None
    kept = [(name, value) for name, value in pairs if name in known]
    names = [name for name, _ in kept if name != REPEATABLE]
    if len(names) != len(set(names)) or any("\0" in value for _, value in kept):
        raise UnreadableParametersError
    # RFC 6749 section 3.1: a parameter without a value counts as left out.
    return str(urlencode([(name, value) for name, value in kept if value]))
