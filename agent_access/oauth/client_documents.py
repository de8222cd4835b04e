"""Client ID Metadata Documents: a client whose identifier is the address of a document about it.

Read only for the consent page, once the owner has signed in, never for the other endpoints. The
address was chosen by a stranger, so the fetch is narrow (agent_access.outgoing).
(draft-ietf-oauth-client-id-metadata-document)
"""

import logging
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from agent_access import conf
from agent_access.audit import Origin
from agent_access.bodies import parse_json
from agent_access.credentials import digest_credential
from agent_access.errors import UnreadableJsonError
from agent_access.models.connections import CLIENT_ID_LENGTH
from agent_access.oauth.client_metadata import PUBLIC, InvalidMetadataError, read_metadata
from agent_access.oauth.fetching import Document, fetch
from agent_access.oauth.models import Application
from agent_access.oauth.registration import client_fields, record_registration
from agent_access.oauth.retention import SWEEP, forget_unused_clients
from agent_access.oauth.return_addresses import HTTPS_ADDRESS, may_register
from agent_access.outgoing import OutgoingError
from agent_access.throttling import spend
from agent_access.translations import SentenceError

logger = logging.getLogger(__name__)

MIN_AGE = timedelta(minutes=5)
MAX_AGE = timedelta(days=1)
FAILURE_SECONDS = 60

DOT_SEGMENT = re.compile(r"/\.{1,2}(?:/|\?|$)")
NO_ADDRESS = gettext_noop("The client's identifier is not an address of a metadata document.")
UNREAD = gettext_noop(
    "The client's metadata document could not be read. It is read again after a minute."
)
# The reason is told to clients too, in English.
INVALID = gettext_noop(
    "The client's metadata document is not valid: %(reason)s It is read again after a minute."
)
MAX_AGE_DIRECTIVE = re.compile(r"\bmax-age=\"?([0-9]{1,9})")


class UnusableDocumentError(SentenceError):
    """The document describes no acceptable client; the message is a sentence for the owner."""


def is_document_address(client_id: str) -> bool:
    return client_id.startswith("https://")


def refresh_client(client_id: str, *, origin: Origin) -> None:
    """Store the client as its document describes it, unless what is stored is still fresh.

    Raises UnusableDocumentError, also if the document of a known client cannot be read any more.
    Raises RateLimitedError: the quota is that of registrations, in a bucket of its own, so that
    strangers who register do not keep the owner's clients out.
    """
    now = timezone.now()
    known = Application.objects.filter(client_id=client_id, cimd_expires_at__gt=now)
    if known.exists():
        return
    if not _is_valid_document_address(client_id):
        raise UnusableDocumentError(NO_ADDRESS)
    failure = f"agent_oauth.document_problem.{digest_credential(client_id)}"
    if problem := cache.get(failure):
        sentence, values = problem
        raise UnusableDocumentError(sentence, **values)
    spend("document", bucket=origin.client_network, quota=conf.limit_register()).enforce()
    try:
        document, fields = _read(client_id)
    except UnusableDocumentError as error:
        cache.set(failure, (error.sentence, error.values), FAILURE_SECONDS)
        raise
    forget_unused_clients(SWEEP)  # first: this very client may be an old unused one
    _keep(client_id, fields | {"cimd_expires_at": now + _lifetime(document)}, origin)


def _read(client_id: str) -> tuple[Document, dict[str, Any]]:
    try:
        document = fetch(client_id)
        return document, _read_document(client_id, document)
    except OutgoingError as error:
        # Not its text, which a stranger may have written.
        reason = type(error.__cause__ or error).__name__
        logger.warning("A client's metadata document could not be fetched: %s.", reason)
        raise UnusableDocumentError(UNREAD) from None
    except InvalidMetadataError as error:
        raise UnusableDocumentError(INVALID, reason=error.message) from None


def _is_valid_document_address(client_id: str) -> bool:
    found = HTTPS_ADDRESS.fullmatch(client_id)
    if found is None or not may_register(client_id) or len(client_id) > CLIENT_ID_LENGTH:
        return False
    return (found["rest"] or "").startswith("/") and not DOT_SEGMENT.search(client_id)


def _read_document(client_id: str, document: Document) -> dict[str, Any]:
    try:
        values = parse_json(document.body)
    except UnreadableJsonError:
        raise InvalidMetadataError("it is not JSON.") from None
    if not isinstance(values, dict) or values.get("client_id") != client_id:
        raise InvalidMetadataError("it names another client.")
    if not _is_public(values):
        raise InvalidMetadataError("it asks for a secret or key; only public clients are allowed.")
    return client_fields(read_metadata(values))


def _is_public(values: Mapping[str, Any]) -> bool:
    """Return whether the client can do without a secret; some documents offer both methods."""
    if "client_secret" in values or "client_secret_expires_at" in values:
        return False
    supported = values.get("token_endpoint_auth_methods_supported")
    methods = [values.get("token_endpoint_auth_method", PUBLIC)]
    return PUBLIC in methods + (supported if isinstance(supported, list) else [])


def _lifetime(document: Document) -> timedelta:
    """Return how long the document is fresh, by its Cache-Control, from MIN_AGE to MAX_AGE."""
    directives = document.cache_control.lower()
    if "no-store" in directives or "no-cache" in directives:
        return MIN_AGE
    given = MAX_AGE_DIRECTIVE.search(directives)
    age = timedelta(seconds=int(given[1])) if given else MAX_AGE
    return max(MIN_AGE, min(age, MAX_AGE))


@transaction.atomic
def _keep(client_id: str, fields: Mapping[str, Any], origin: Origin) -> None:
    source = Application.RegistrationSource.CIMD
    client, is_new = Application.objects.update_or_create(
        client_id=client_id, defaults={**fields, "registration_source": source}
    )
    if is_new:
        record_registration(client, origin)
