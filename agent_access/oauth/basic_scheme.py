"""HTTP Basic at the token and revocation endpoints: one more way to name a public client.

Go's oauth2 package, and whatever is built on it, tries Basic with an empty secret before it puts
`client_id` into the form. Were that refused, it would ask again, but each refusal would cost one of
the requests of a minute, and be written down as a refused one. So the client is let in by its
identifier (RFC 6749 section 2.3.1); a secret means as little here as it does in the form.
"""

import base64
from urllib.parse import parse_qsl, unquote_plus

from django.http import HttpRequest
from oauthlib.common import urlencode

CHALLENGE = 'Basic realm="OAuth clients"'


def uses_basic(request: HttpRequest) -> bool:
    return _scheme_and_rest(request)[0] == "basic"


def name_client(form: str, request: HttpRequest) -> str:
    """Return a clean form with the client that the request names by Basic, if it uses that.

    Where Basic is unreadable or names another client than the form, it returns a form that names
    none, so that it is refused like any other request of an unknown client (RFC 6749 section 5.2).
    """
    scheme, rest = _scheme_and_rest(request)
    if scheme != "basic":
        return form
    client_id = _read_client_id(rest)
    pairs = parse_qsl(form)
    in_form = {value for name, value in pairs if name == "client_id"}
    kept = [(name, value) for name, value in pairs if name != "client_id"]
    if client_id and in_form <= {client_id}:
        kept.append(("client_id", client_id))
    return str(urlencode(kept))


def _scheme_and_rest(request: HttpRequest) -> tuple[str, str]:
    scheme, _, rest = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return scheme.lower(), rest.strip()


def _read_client_id(credentials: str) -> str:
    """Return the identifier, or an empty text if there is none that could be a client's.

    The last colon ends it: the secret is empty, and some clients forget to encode the address of
    their metadata document.
    """
    try:
        text = base64.b64decode(credentials, validate=True).decode("ascii")
    except ValueError:
        return ""
    client_id = unquote_plus(text.rpartition(":")[0])
    return client_id if client_id.isascii() and client_id.isprintable() else ""
