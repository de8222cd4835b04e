"""The checks before any tool, in the interface's order, for every transport."""

from django.db import transaction
from django.http import HttpRequest

from agent_access import audit, conf
from agent_access.audit import Fact, make_origin
from agent_access.authentication import authenticate, identify
from agent_access.callers import Caller
from agent_access.discovery import challenge_parameters
from agent_access.errors import NotFoundError, RateLimitedError, UnauthenticatedError
from agent_access.models.audit import Transport
from agent_access.models.settings import AccessSettings
from agent_access.request_facts import note
from agent_access.throttling import Allowance, rate_limit_headers, spend


class Admission:
    """The admission of one request: the switches, the caller, and what is left of the limits.

    Made before any check, so that a refused request can report what is left too.
    """

    _caller: Caller | None
    _settings: AccessSettings

    def __init__(self, request: HttpRequest, *, transport: Transport) -> None:
        note(transport=transport)
        self._request = request
        self._allowances: list[Allowance] = []
        self.origin = make_origin(transport)

    @property
    def headers(self) -> dict[str, str]:
        """Return the RateLimit header fields for the limits counted so far."""
        return rate_limit_headers(self._allowances)

    def require_access_on(self) -> None:
        """Raise NotFoundError while access is off; one statement reads both switches and caller."""
        self._caller = identify(self._request)
        self._settings = self._caller.settings if self._caller else AccessSettings.read()
        if not self._settings.access_on:
            raise NotFoundError

    def admit(self, *, action: str) -> Caller:
        """Authenticate the caller within both limits.

        Raises RateLimitedError, UnauthenticatedError or UnavailableError (no cache). `action` is
        what the audit calls the request if the connection exceeds its limit: once per window.
        """
        address = self._spend("address", self.origin.client_network, conf.limit_per_address())
        address.enforce()
        caller = self._authenticate()
        connection_id = caller.connection.id
        note(connection_id=connection_id)
        allowance = self._spend("connection", str(connection_id), conf.limit_per_connection())
        if allowance.is_first_excess:
            self.record_refusal(caller, action=action, outcome=RateLimitedError.code)
        allowance.enforce()
        return caller

    def _authenticate(self) -> Caller:
        try:
            return authenticate(self._request, self._caller, origin=self.origin)
        except UnauthenticatedError as error:
            if self._settings.browser_sign_in_on and self.origin.transport == Transport.MCP:
                error.discovery = challenge_parameters()
            raise

    def _spend(self, policy: str, bucket: str, quota: int) -> Allowance:
        allowance = spend(policy, bucket=bucket, quota=quota)
        self._allowances.append(allowance)
        return allowance

    def record_refusal(self, caller: Caller, *, action: str, outcome: str) -> None:
        """Audit that an authenticated caller was refused before any tool."""
        fact = Fact(
            action=action,
            origin=self.origin,
            actor_id=caller.connection.user_id,
            connection_id=caller.connection.id,
            outcome=outcome,
        )
        with transaction.atomic():
            audit.record_refusal(fact)
