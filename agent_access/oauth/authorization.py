"""Authorization requests: what a client asks the owner for, checked before it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

from django.db import transaction
from django.utils.translation import gettext_noop
from oauthlib.oauth2 import FatalClientError

from agent_access.addresses import url_of
from agent_access.audit import Origin
from agent_access.connections import Consent
from agent_access.errors import RateLimitedError, UnavailableError
from agent_access.oauth import parameters
from agent_access.oauth.client_documents import (
    UnusableDocumentError,
    is_document_address,
    refresh_client,
)
from agent_access.oauth.models import Application
from agent_access.oauth.parameters import UnreadableParametersError, clean_parameters
from agent_access.oauth.paths import AUTHORIZE
from agent_access.oauth.server import Server
from agent_access.tools import registry
from agent_access.translations import SentenceError

UNKNOWN_CLIENT = gettext_noop(
    "This client is not known here, or it names no return address that it has registered. Only"
    " https addresses, and http addresses on your own computer, can be registered."
)
UNREADABLE = gettext_noop("The link that brought you here is broken.")
TOO_LONG = gettext_noop("The link that brought you here is too long.")
TOO_MANY = gettext_noop(
    "Too many clients asked for the first time in this minute; try again in the next."
)
UNCOUNTED = gettext_noop("New clients cannot be counted just now; try again in a minute.")

# In characters. The answer repeats the return address and the state, and Django redirects to no
# address longer than 16,384; by then a connection would have been made.
MAX_LENGTH = 15_000


class UnusableRequestError(SentenceError):
    """A request that gets a page and no redirect; the message is a sentence for the owner."""

    def __init__(
        self,
        sentence: str,
        *,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        headers: Mapping[str, str] = MappingProxyType({}),
        **values: str,
    ) -> None:
        super().__init__(sentence, **values)
        self.status = status
        self.headers = headers


@dataclass(frozen=True)
class AuthorizationRequest:
    """A checked request; its scopes are in the registry's order."""

    uri: str
    client: Application
    return_address: str
    scopes: list[str]
    state: str | None
    origin: Origin

    @property
    def client_host(self) -> str:
        return self.client.host_at(self.return_address)


def read_request(query: str, *, origin: Origin) -> AuthorizationRequest:
    """Return the checked request.

    Raises UnusableRequestError for what gets a page and no redirect, and OAuth2Error for what the
    client is told at its own return address.
    """
    try:
        query = clean_parameters(query, parameters.AUTHORIZE)
        if len(query) > MAX_LENGTH:
            raise UnusableRequestError(TOO_LONG)
        uri = f"{url_of(AUTHORIZE)}?{query}"
        client_id = dict(parse_qsl(query)).get("client_id", "")
        if is_document_address(client_id):
            refresh_client(client_id, origin=origin)
        scopes, found = Server(origin).validate_authorization_request(uri)
    except UnreadableParametersError:
        raise UnusableRequestError(UNREADABLE) from None
    except UnusableDocumentError as error:
        raise UnusableRequestError(error.sentence, **error.values) from None
    except RateLimitedError as error:
        raise UnusableRequestError(TOO_MANY, status=error.status, headers=error.headers) from None
    except UnavailableError as error:
        raise UnusableRequestError(UNCOUNTED, status=error.status) from None
    except FatalClientError:
        raise UnusableRequestError(UNKNOWN_CLIENT) from None
    in_order = [scope for scope in registry.scopes if scope in scopes]
    client = found["request"].client
    address, state = found["redirect_uri"], found["state"]
    return AuthorizationRequest(uri, client, address, in_order, state, origin)


@transaction.atomic
def make_connection(
    authorization: AuthorizationRequest, consent: Consent, *, decided_at: datetime
) -> str:
    """Make the connection and its code together; return the code, which lasts from the decision.

    Raises FatalClientError, ConnectionNotAllowedError and ConnectionExistsError.
    """
    headers, _, _ = Server(authorization.origin).create_authorization_response(
        authorization.uri,
        scopes=list(consent.scopes),
        credentials={"consent": consent, "decided_at": decided_at},
    )
    answer: list[tuple[str, str]] = parse_qsl(urlsplit(headers["Location"]).query)
    return dict(answer)["code"]
