"""The refusals that both transports give, each with its code, its status and fixed sentences.

Where a code has several causes that the caller may know, each cause has a sentence of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, ClassVar

from django.utils.translation import gettext
from typing_extensions import override

__all__ = [
    "ConflictError",
    "FieldProblem",
    "ForbiddenError",
    "InsufficientScopeError",
    "JsonRequiredError",
    "MethodNotAllowedError",
    "NotFoundError",
    "PayloadTooLargeError",
    "RateLimitedError",
    "ToolError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnreadableJsonError",
    "ValidationFailedError",
]

NO_HEADERS: Mapping[str, str] = MappingProxyType({})

# RFC 6750 section 3: a challenge has at least one parameter. All tools are one realm.
REALM = "agents"

# An answer names so many problems; all others are only counted.
MAX_PROBLEMS = 20


def format_challenge(parameters: Mapping[str, str]) -> str:
    """Return the value of WWW-Authenticate; no parameter may hold a quote."""
    named = {"realm": REALM, **parameters}
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in named.items())


@dataclass(frozen=True)
class FieldProblem:
    """One wrong field: its path (`parts.0.weight`) and a fixed text, never its value.

    Pages tell the text in their language, from the `phrase` whose placeholders `values` fill, if it
    has any.
    """

    field: str
    problem: str
    phrase: str = dataclass_field(default="", compare=False)
    values: Mapping[str, Any] = dataclass_field(default_factory=dict, compare=False)

    def told(self) -> str:
        return gettext(self.phrase or self.problem).format(**self.values)


class ToolError(Exception):
    """A refusal. Interface: "HTTP tool errors carry `error.code`".

    `message` says how to recover. A code with several causes gets that of the cause instead, and
    `fields` names what the cause lies in. `headers` are the HTTP header fields of its answer.
    """

    code: ClassVar[str]
    status: ClassVar[HTTPStatus]
    message: str

    headers = NO_HEADERS

    def __init__(self, message: str = "", *, fields: Iterable[str] = ()) -> None:
        super().__init__()
        self.message = message or self.message
        self.fields = tuple(fields)

    def body(self) -> dict[str, Any]:
        """Return the object that every transport answers with, in its own envelope."""
        named = {"fields": list(self.fields)} if self.fields else {}
        return {"error": {"code": self.code, "message": self.message, **named}}


class UnauthenticatedError(ToolError):
    code = "unauthenticated"
    status = HTTPStatus.UNAUTHORIZED
    message = (
        "Send a valid credential as Authorization: Bearer. This one is missing, wrong, expired or"
        " revoked; ask the owner for a new connection."
    )

    def __init__(
        self, *, bearer_sent: bool = True, discovery: Mapping[str, str] = NO_HEADERS
    ) -> None:
        """Challenge, without an error if no bearer was sent (RFC 6750 section 3.1).

        `discovery` says where a client can learn how to sign in (RFC 9728 section 5.1).
        """
        super().__init__()
        error = {"error": "invalid_token"} if bearer_sent else {}
        self.headers = {"WWW-Authenticate": format_challenge({**error, **discovery})}


class ForbiddenError(ToolError):
    code = "forbidden"
    status = HTTPStatus.FORBIDDEN
    message = (
        "This call is not allowed: the connection lacks its grant, the delegated person lacks a"
        " permission, or demo mode is on; or the request was not HTTPS to the application's own"
        " address, or had an Origin header. Repeating it does not help; ask the owner."
    )


# The causes of a 403.
NOT_HTTPS = "The request did not come over HTTPS. Call the application's own https address."
OTHER_HOST = (
    "The request named another host or port than the application's own address. Call the address"
    " that the owner gave you, with its port if it has one."
)
ORIGIN_SENT = (
    "The request had an Origin header, which browsers add for web pages; no page may call the"
    " tools. Call them from a program that sends none."
)
MISSING_SCOPE = (
    "This connection does not have the scope {scope}, which this tool needs. Repeating the call"
    " does not help; ask the owner for a connection that has it."
)
MISSING_PERMISSION = (
    "The delegated person does not have the permission that this tool needs: {permissions}."
    " Repeating the call does not help; ask the owner or an administrator."
)
DEMO_MODE = (
    "Demo mode is on: tools that write do nothing and are refused, while all others work. Repeating"
    " the call does not help; ask the owner."
)


class InsufficientScopeError(ForbiddenError):
    """A browser sign-in lacks a scope that its client may ask the owner for (RFC 6750 3.1)."""

    def __init__(
        self, message: str, *, scopes: Iterable[str], discovery: Mapping[str, str]
    ) -> None:
        super().__init__(message)
        challenge = {"error": "insufficient_scope", **discovery, "scope": " ".join(scopes)}
        self.headers = {"WWW-Authenticate": format_challenge(challenge)}


class NotFoundError(ToolError):
    code = "not_found"
    status = HTTPStatus.NOT_FOUND
    message = (
        "There is no such address or record, or the delegated person cannot see it. IDs come from"
        " other answers, and a nonce from the one that gave it with its ID: list records, or search"
        " for what you know by its number or name."
    )


class MethodNotAllowedError(ToolError):
    code = "method_not_allowed"
    status = HTTPStatus.METHOD_NOT_ALLOWED
    message = "This address does not support that method; the Allow header names those it does."

    def __init__(self, allowed: Iterable[str]) -> None:
        super().__init__()
        self.headers = {"Allow": ", ".join(allowed)}


class ConflictError(ToolError):
    code = "conflict"
    status = HTTPStatus.CONFLICT
    message = (
        "Nothing was changed. The record has another version, or its type or status does not allow"
        " this change; or this idempotency key was used for an earlier call that differs in its"
        " tool, record, fields or their order. Read the record or the list to see what was done,"
        " and do only what is left, with the latest version and a new key."
    )


# The causes of a 409 that lie in the idempotency key, which is named as the field.
KEY_USED = (
    "Nothing was changed. This idempotency key was used for an earlier call that differs in its"
    " tool, record, fields or their order: the order of fields counts. Read the record or the"
    " list to see what that call did, and do only what is left, with a new key."
)
ANSWER_GONE = (
    "Nothing was changed. The call of this idempotency key was done, but its answer cannot be given"
    " again. Read the record to see what it did, and do only what is left, with a new key."
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


CONTENT_ENCODED = (
    "The body came with a Content-Encoding, such as gzip, and no encoded body is read. Send the"
    " JSON itself, without Content-Encoding."
)


class ValidationFailedError(ToolError):
    """Wrong arguments. `problems` is empty when the body could not be read at all.

    Those beyond MAX_PROBLEMS are counted in the message.
    """

    code = "validation_failed"
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    message = (
        "Some fields are wrong, missing or unknown; problems says what is wrong with each. If no"
        " field is named, the body or query could not be read, for example since it is no JSON"
        " object, names something twice, or is nested too deeply. Correct the call and send it"
        " again."
    )

    def __init__(self, problems: Iterable[FieldProblem] = (), *, message: str = "") -> None:
        found = list(dict.fromkeys(problems))
        self.problems = found[:MAX_PROBLEMS]
        if more := len(found) - len(self.problems):
            message = MORE_PROBLEMS.format(message=self.message, shown=MAX_PROBLEMS, more=more)
        super().__init__(message, fields=dict.fromkeys(wrong.field for wrong in self.problems))

    @override
    def body(self) -> dict[str, Any]:
        problems = [{"field": wrong.field, "problem": wrong.problem} for wrong in self.problems]
        told = {"code": self.code, "message": self.message, "problems": problems}
        return {"error": told | {"fields": list(self.fields)}}


MORE_PROBLEMS = "{message} Only the first {shown} problems are named; there are {more} more."
# Texts instead of an object, as models write them that encode their arguments twice.
OBJECT_AS_TEXT = (
    "The {name} must be an object, not a string with JSON in it: send the object itself."
)


class UnreadableJsonError(ValidationFailedError):
    """The body is not JSON, or such that two parsers might understand it differently."""


BYTE_ORDER_MARK = (
    "The body begins with a byte order mark, as some editors and shells write it. Send JSON in"
    " UTF-8 without one."
)


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
        self.headers = {"Retry-After": str(retry_after)}


class UnavailableError(ToolError):
    code = "unavailable"
    status = HTTPStatus.SERVICE_UNAVAILABLE
    message = (
        "The service could not finish this call. Send the same call with the same idempotency key"
        " again; nothing is done twice."
    )
