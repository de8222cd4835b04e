"""The refusals that both transports give, each with its code, status and one fixed sentence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar

from typing_extensions import override

# RFC 6750 section 3: a challenge has at least one parameter. All tools are one realm.
REALM = "agents"


def format_challenge(parameters: Mapping[str, str]) -> str:
    """Return the value of WWW-Authenticate; no parameter may hold a quote."""
    named = {"realm": REALM, **parameters}
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in named.items())


@dataclass(frozen=True)
class FieldProblem:
    """One wrong field: its path (`line_items.0.unit_price`) and a fixed text, never its value."""

    field: str
    problem: str


class ToolError(Exception):
    """A refusal. Interface: "HTTP tool errors carry `error.code`"."""

    code: ClassVar[str]
    status: ClassVar[HTTPStatus]
    message: ClassVar[str]

    @property
    def headers(self) -> dict[str, str]:
        """Return the HTTP header fields that belong to this refusal."""
        return {}

    def body(self) -> dict[str, Any]:
        """Return the object that every transport answers with, in its own envelope."""
        return {"error": {"code": self.code, "message": self.message}}


class UnauthenticatedError(ToolError):
    code = "unauthenticated"
    status = HTTPStatus.UNAUTHORIZED
    message = (
        "Send a valid credential as Authorization: Bearer. This one is missing, wrong, expired or"
        " revoked; ask the owner for a new connection."
    )

    def __init__(self, *, bearer_sent: bool = True) -> None:
        super().__init__()
        self.bearer_sent = bearer_sent
        self.discovery: dict[str, str] = {}

    @property
    @override
    def headers(self) -> dict[str, str]:
        """Return the challenge, without an error if no bearer was sent (RFC 6750 section 3.1).

        `discovery` says where a client can learn how to sign in (RFC 9728 section 5.1).
        """
        error = {"error": "invalid_token"} if self.bearer_sent else {}
        return {"WWW-Authenticate": format_challenge(error | self.discovery)}


class ForbiddenError(ToolError):
    code = "forbidden"
    status = HTTPStatus.FORBIDDEN
    message = (
        "This call is not allowed: the connection lacks its grant, the delegated person lacks a"
        " permission, or demo mode is on; or the request was not HTTPS to the application's own"
        " address, or had an Origin header. Repeating it does not help; ask the owner."
    )


class InsufficientScopeError(ForbiddenError):
    """A browser sign-in lacks a scope that its client may ask the owner for (RFC 6750 3.1)."""

    def __init__(self, *, scopes: Iterable[str], discovery: Mapping[str, str]) -> None:
        super().__init__()
        self.parameters = {
            "error": "insufficient_scope",
            **discovery,
            "scope": " ".join(scopes),
        }

    @property
    @override
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": format_challenge(self.parameters)}


class NotFoundError(ToolError):
    code = "not_found"
    status = HTTPStatus.NOT_FOUND
    message = (
        "There is no such address or record, or the delegated person cannot see it. IDs come from"
        " other answers, and a nonce from the one that prepared its approval: search for what you"
        " know by its number or name."
    )


class MethodNotAllowedError(ToolError):
    code = "method_not_allowed"
    status = HTTPStatus.METHOD_NOT_ALLOWED
    message = "This address does not support that method; the Allow header names those it does."

    def __init__(self, allowed: Iterable[str]) -> None:
        super().__init__()
        self.allowed = tuple(allowed)

    @property
    @override
    def headers(self) -> dict[str, str]:
        return {"Allow": ", ".join(self.allowed)}


class ConflictError(ToolError):
    code = "conflict"
    status = HTTPStatus.CONFLICT
    message = (
        "Nothing was changed. The record has another version, or its type or status does not allow"
        " this change; or this idempotency key was used for an earlier call that differs in its"
        " tool, record, fields or their order. Read the record or the list to see what was done,"
        " and do only what is left, with the latest version and a new key."
    )


class PayloadTooLargeError(ToolError):
    code = "payload_too_large"
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    message = (
        "The body is larger than 256 KiB; send less, and characters beyond ASCII as they are, not"
        " as \\u escapes."
    )


class JsonRequiredError(ToolError):
    code = "json_required"
    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    message = "Send the body as JSON in UTF-8, with Content-Type: application/json."


class ValidationFailedError(ToolError):
    """Wrong arguments. `problems` is empty when the body could not be read at all."""

    code = "validation_failed"
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    message = (
        "Some fields are wrong, missing or unknown; problems says what is wrong with each. If no"
        " field is named, the body or query could not be read, for example since it is no JSON"
        " object, names something twice, or is nested too deeply. Correct the call and send it"
        " again."
    )

    def __init__(self, problems: Iterable[FieldProblem] = ()) -> None:
        super().__init__()
        self.problems = tuple(dict.fromkeys(problems))

    @override
    def body(self) -> dict[str, Any]:
        body = super().body()
        body["error"]["fields"] = list(dict.fromkeys(problem.field for problem in self.problems))
        body["error"]["problems"] = [
            {"field": problem.field, "problem": problem.problem} for problem in self.problems
        ]
        return body


class UnreadableJsonError(ValidationFailedError):
    """The body is not JSON, or such that two parsers might understand it differently."""


class RateLimitedError(ToolError):
    """A quota is exceeded; `retry_after` is in whole seconds."""

    code = "rate_limited"
    status = HTTPStatus.TOO_MANY_REQUESTS
    message = (
        "Too many requests in this minute; wait as many seconds as Retry-After says, or over MCP"
        " retry_after."
    )

    def __init__(self, *, retry_after: int) -> None:
        super().__init__()
        self.retry_after = retry_after

    @property
    @override
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class UnavailableError(ToolError):
    code = "unavailable"
    status = HTTPStatus.SERVICE_UNAVAILABLE
    message = (
        "The service could not finish this call. Send the same call with the same idempotency key"
        " again; nothing is done twice."
    )
