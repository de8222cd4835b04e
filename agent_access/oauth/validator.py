"""The rules of codes and tokens, as the hooks that oauthlib calls.

The toolkit's own hooks read its tables and settings, which belong to the project's use of it. Each
one that is called here and does so is overridden (ADR 16).

Every use of a code or refresh token locks the administration chain before its row is read
(`presented`): of concurrent uses the first succeeds, and each later one is seen as a second use,
which revokes the connection. The view commits one transaction around it all, refusals included.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.utils import timezone
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError, MissingRedirectURIError
from typing_extensions import override

from agent_access.approvers import find_approved
from agent_access.audit import Actor, Origin, record_act
from agent_access.authentication import still_holds
from agent_access.connections import (
    create_browser_connection,
    revoke_connection,
)
from agent_access.credentials import digest_credential
from agent_access.discovery import resource
from agent_access.models.connections import Connection, RevokedReason
from agent_access.oauth.clients import lock_client
from agent_access.oauth.models import AccessToken, Application, Grant, RefreshToken
from agent_access.oauth.presented import Presented
from agent_access.oauth.tokens import CODE_LIFETIME
from agent_access.tools import registry


class Validator(OAuth2Validator):
    """Made for one request, with its origin for the audit, and with what it presents."""

    def __init__(self, origin: Origin, presented: Presented) -> None:
        super().__init__()
        self._origin = origin
        self._presented = presented

    @override
    def _load_application(self, client_id: str, request: Any) -> Application | None:
        """Return the client, and keep it where the toolkit's own hooks expect it."""
        client = Application.objects.filter(client_id=client_id).first()
        request.client = client
        return client

    @override
    def client_authentication_required(self, request: Any, **_: Any) -> bool:
        """Every client is public; a secret that is sent anyway means nothing."""
        return False

    @override
    def get_default_redirect_uri(self, client_id: str, request: Any, **_: Any) -> str | None:
        """Return the client's address if it has only one (RFC 6749 section 3.1.2.3)."""
        addresses = request.client.return_addresses
        return addresses[0] if len(addresses) == 1 else None

    @override
    def is_pkce_required(self, client_id: str, request: Any) -> bool:
        return True

    @override
    def get_default_scopes(self, client_id: str, request: Any, **_: Any) -> list[str]:
        return list(registry.scopes)

    @override
    def validate_scopes(
        self, client_id: str, scopes: Iterable[str], client: Any, request: Any, **_: Any
    ) -> bool:
        return set(scopes) <= set(registry.scopes)

    @override
    def rotate_refresh_token(self, request: Any) -> bool:
        return True

    @override
    def get_original_scopes(self, refresh_token: str, request: Any, **_: Any) -> Any:
        """RFC 6749 section 6: a refresh may ask for all that the owner allowed, and no more."""
        return request.connection.grants

    @override
    def is_within_original_scope(
        self, request_scopes: list[str], refresh_token: str, request: Any, **_: Any
    ) -> bool:
        """Leave out scopes that we do not have, as at the start; tell whether the rest is allowed.

        One that we have and the owner did not allow stays refused: the client must not believe
        that it has it.
        """
        granted = request.connection.grants
        request.scopes = [scope for scope in request_scopes if scope in granted] or granted
        refused = {*registry.scopes} - {*granted}
        return refused.isdisjoint(request_scopes)

    @override
    def save_authorization_code(
        self, client_id: str, code: dict[str, str], request: Any, **_: Any
    ) -> None:
        """Make the connection that the owner allowed, and keep the digest of its code.

        Raises ConnectionExistsError where the same page made it before.
        """
        connection = create_browser_connection(request.consent, origin=self._origin)
        lock_client(request.client)
        Grant.objects.create(
            connection=connection,
            application=request.client,
            user=connection.user,
            code=digest_credential(code["code"]),
            expires=request.decided_at + CODE_LIFETIME,
            # Only if it was sent, which decides whether the exchange must send it.
            redirect_uri="" if request.using_default_redirect_uri else request.redirect_uri,
            scope=" ".join(connection.grants),
            code_challenge=request.code_challenge,
            code_challenge_method=request.code_challenge_method,
            resource=[resource()],
        )

    @override
    def validate_code(self, client_id: str, code: str, client: Any, request: Any, **_: Any) -> bool:
        grant = self._presented.code
        if grant is None:
            return False
        if grant.application_id != client.pk or timezone.now() >= grant.expires:
            return False
        request.grant = grant
        request.scopes = grant.scope.split()
        return self._attach_connection(grant.connection, request)

    @override
    def get_code_challenge(self, code: str, request: Any) -> str:
        return str(request.grant.code_challenge)

    @override
    def get_code_challenge_method(self, code: str, request: Any) -> str:
        return str(request.grant.code_challenge_method)

    @override
    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, request: Any, **_: Any
    ) -> bool:
        """Require the very address of the authorization request (RFC 6749 sections 4.1.3, 5.2).

        Where that left out the client's only address, the exchange may do so too.
        """
        sent = request.grant.redirect_uri
        if sent and request.using_default_redirect_uri:
            raise MissingRedirectURIError(request=request)
        if redirect_uri != (sent or self.get_default_redirect_uri(client_id, request)):
            raise InvalidGrantError("The return address is another one.", request=request)
        return True

    @override
    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Any, **_: Any
    ) -> None:
        unused = Grant.objects.filter(pk=request.grant.pk, consumed_at=None)
        _require_one_row(unused.update(consumed_at=timezone.now()))
        self._record("code:exchanged", request.connection)

    @override
    def save_bearer_token(self, token: dict[str, Any], request: Any, **_: Any) -> None:
        """Keep the digests of the new pair; on a refresh the old refresh token is rotated."""
        previous: RefreshToken | None = getattr(request, "refresh_token_instance", None)
        shared = {
            "connection": request.connection,
            "application": request.client,
            "user": request.connection.user,
            "resource": [resource()],
            "token": "",
        }
        access_token = AccessToken.objects.create(
            token_checksum=digest_credential(token["access_token"]),
            expires=timezone.now() + timedelta(seconds=token["expires_in"]),
            scope=token["scope"],
            source_refresh_token=previous,
            **shared,
        )
        if previous is not None:
            unused = RefreshToken.objects.filter(pk=previous.pk, revoked=None)
            _require_one_row(unused.update(revoked=timezone.now()))
            self._record("token:refreshed", request.connection)
        RefreshToken.objects.create(
            token_checksum=digest_credential(token["refresh_token"]),
            access_token=access_token,
            **shared,
        )

    @override
    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, **_: Any
    ) -> bool:
        held = self._presented.refresh_token
        if held is None or held.application_id != client.pk:
            return False
        request.refresh_token_instance = held
        return self._attach_connection(held.connection, request)

    @override
    def revoke_token(self, token: str, token_type_hint: str, request: Any, **_: Any) -> None:
        """Revoke the connection of either token; ignore what is not a token of this client."""
        lookup = {"token_checksum": digest_credential(token), "application": request.client}
        for model in (AccessToken, RefreshToken):
            for held in model.objects.filter(**lookup):
                by = Actor(self._origin)
                revoke_connection(held.connection_id, reason=RevokedReason.CLIENT_REVOKED, by=by)

    def _attach_connection(self, connection: Connection, request: Any) -> bool:
        request.connection = connection
        request.user = connection.user
        is_approved = bool(find_approved([connection]))
        return still_holds(connection, is_approved=is_approved, origin=self._origin)

    def _record(self, action: str, connection: Connection) -> None:
        by = Actor(self._origin, connection.user_id)
        record_act(action, by, connection_id=connection.id)


def _require_one_row(rows: int) -> None:
    if rows != 1:
        raise RuntimeError("a code or token was used under its lock")
