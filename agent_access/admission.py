"""The checks before any tool, in the interface's order, for every transport."""

from time import monotonic

from django.db import transaction
from django.http import HttpRequest

from agent_access import audit, conf
from agent_access.audit import Fact, make_origin
from agent_access.authentication import authenticate, find_caller
from agent_access.discovery import challenge_parameters
from agent_access.errors import NotFoundError, RateLimitedError, UnauthenticatedError
from agent_access.models.audit import Transport
from agent_access.models.connections import Connection
from agent_access.models.settings import AccessSettings
from agent_access.request_facts import note
from agent_access.standings import Standing
from agent_access.throttling import Allowance, rate_limit_headers, spend


class Admission:
    """The admission of one request: the switches, the caller, and what is left of the limits.

    Made before any check, so that a refused request can report what is left too. `admitted_at` is
    when the caller's standing was read, in seconds of the monotonic clock.
    """

    settings: AccessSettings
    admitted_at: float

    def __init__(self, request: HttpRequest, *, transport: Transport) -> None:
        note(transport=transport)
        self._request = request
        self._allowances: list[Allowance] = []
        self._caller: Standing | None = None
        self.origin = make_origin(transport)

    @property
    def headers(self) -> dict[str, str]:
        """Return the RateLimit header fields for the limits counted so far."""
        return rate_limit_headers(self._allowances)

    def require_access_on(self) -> None:
        """Raise NotFoundError while access is off; one statement reads both switches and caller."""
        self.admitted_at = monotonic()
        self._caller = find_caller(self._request)
        self.settings = self._caller.settings if self._caller else AccessSettings.read()
        if not self.settings.access_on:
            raise NotFoundError

    def admit(self, *, action: str) -> Connection:
        """Authenticate the caller within both limits, and return the connection.

        Raises RateLimitedError, UnauthenticatedError or UnavailableError (no cache). `action` is
        what the audit calls the request if the connection exceeds its limit: once per window.
        """
        address = self._spend("address", self.origin.client_network, conf.limit_per_address())
        address.enforce()
        connection = self._authenticate()
        note(connection_id=connection.id)
        allowance = self._spend("connection", str(connection.id), conf.limit_per_connection())
        if allowance.is_first_excess:
            self.record_refusal(connection, action=action, outcome=RateLimitedError.code)
        allowance.enforce()
        return connection

    def _authenticate(self) -> Connection:
        try:
            return authenticate(self._request, self._caller, origin=self.origin)
        except UnauthenticatedError as error:
            if self.settings.browser_sign_in_on and self.origin.transport == Transport.MCP:
                error.discovery = challenge_parameters()
            raise

    def _spend(self, policy: str, bucket: str, quota: int) -> Allowance:
        allowance = spend(policy, bucket=bucket, quota=quota)
        self._allowances.append(allowance)
        return allowance

    def record_refusal(self, connection: Connection, *, action: str, outcome: str) -> None:
        """Audit that an authenticated caller was refused before any tool."""
        fact = Fact(
            action=action,
            origin=self.origin,
            actor_id=connection.user_id,
            connection_id=connection.id,
            outcome=outcome,
        )
        with transaction.atomic():
            audit.record_refusal(fact)
