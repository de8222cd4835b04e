"""The checks before any tool, in the interface's order, for every transport."""

from django.db import transaction
from django.http import HttpRequest
from django.utils.functional import cached_property

from agent_access import audit, conf
from agent_access.audit import Fact, make_origin
from agent_access.authentication import identify, still_holds
from agent_access.callers import Caller
from agent_access.discovery import challenge_parameters
from agent_access.errors import NotFoundError, RateLimitedError, UnauthenticatedError
from agent_access.gate import guard
from agent_access.models import AccessSettings, Transport
from agent_access.request_facts import note
from agent_access.throttling import Allowance, rate_limit_headers, spend


class Admission:
    """The admission of one request: the switches, the caller, and what is left of the limits.

    Made before any check, so that a refused request can report what is left too. Each check first
    makes those before it, and each is made once: no transport can mix up their order. Without
    `guards` the gate's checks are not made, for a request that they have refused.
    """

    def __init__(self, request: HttpRequest, *, transport: Transport, guards: bool = True) -> None:
        note(transport=transport)
        self._request, self._guards = request, guards
        self._allowances: list[Allowance] = []
        self.origin = make_origin(transport)

    @property
    def headers(self) -> dict[str, str]:
        """Return the RateLimit header fields for the limits counted so far."""
        return rate_limit_headers(self._allowances)

    def require_access_on(self) -> None:
        """Raise NotFoundError while access is off; one statement reads both switches and caller.

        Whatever way the request came here, the gate's checks were made before: ForbiddenError.
        """
        if self._guards:
            guard(self._request)
        if not self._settings.access_on:
            raise NotFoundError

    @cached_property
    def address(self) -> Allowance:
        """What the client's address has left; raises UnavailableError (no cache)."""
        self.require_access_on()
        return self._spend("address", self.origin.client_network, conf.limit_per_address())

    @cached_property
    def caller(self) -> Caller:
        """Who calls, within the limit of the address; raises UnauthenticatedError."""
        self.address.enforce()
        caller = self._identified
        if caller is None or not still_holds(
            caller.connection, is_approved=caller.is_approved, origin=self.origin
        ):
            raise self._unauthenticated()
        note(connection_id=caller.connection.id)
        return caller

    def _unauthenticated(self) -> UnauthenticatedError:
        header = self._request.META.get("HTTP_AUTHORIZATION", "")
        can_sign_in = self._settings.browser_sign_in_on and self.origin.transport == Transport.MCP
        return UnauthenticatedError(
            bearer_sent=header.lower().startswith("bearer"),
            discovery=challenge_parameters() if can_sign_in else {},
        )

    def count_connection(self, *, action: str) -> Allowance:
        """Return what the caller's connection has left.

        `action` is what the audit calls the request if it exceeds the limit: once per window.
        """
        bucket = str(self.caller.connection.id)
        allowance = self._spend("connection", bucket, conf.limit_per_connection())
        if allowance.is_first_excess:
            self.record_refusal(self.caller, action=action, outcome=RateLimitedError.code)
        return allowance

    def admit(self, *, action: str) -> Caller:
        """Return the caller, within both limits; raises what the checks raise."""
        self.count_connection(action=action).enforce()
        return self.caller

    @cached_property
    def _identified(self) -> Caller | None:
        return identify(self._request)

    @cached_property
    def _settings(self) -> AccessSettings:
        return self._identified.settings if self._identified else AccessSettings.read()

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
