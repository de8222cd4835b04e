"""The shapes of what agents read of an approval, as the OpenAPI document shows them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from agent_access.approvals.models import REJECTION_REASON_LENGTH
from agent_access.approvals.states import ApprovalState
from agent_access.fields import ID_SCHEMA

NONCE_LENGTH = 200
UTC_PATTERN = r"^[0-9-]{10}T[0-9:.]+Z$"

# The value of a column, or its text where it was read or stored as JSON.
Id = Annotated[UUID | str, WithJsonSchema(ID_SCHEMA)]
Instant = Annotated[
    datetime, WithJsonSchema({"type": "string", "format": "date-time", "pattern": UTC_PATTERN})
]
Url = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]
Nonce = Annotated[str, Field(min_length=1, max_length=NONCE_LENGTH)]
Executed = Annotated[str, WithJsonSchema({"type": "string", "enum": [ApprovalState.EXECUTED]})]


class Progress(TypedDict):
    """Where an approval of any kind stands now."""

    prepared_at: Instant
    expires_at: Instant
    decided_at: Instant | None
    executed_at: Instant | None
    rejection_reason: Annotated[str, Field(max_length=REJECTION_REASON_LENGTH)] | None
    stale_fields: Annotated[
        list[str], Field(description="The paths that differ from what was prepared.")
    ]
    review_url: Annotated[Url, Field(description="Where the person decides.")]


class Approval(Progress):
    """A request: the facts as they were prepared, and where it stands now."""

    approval_id: Id
    kind: str
    status: ApprovalState
    target_id: Id | int
    facts: dict[str, Any]


class PreparedApproval(Approval):
    """A new approval, with the nonce that executing it needs, told only here."""

    nonce: Nonce


class Execution(TypedDict):
    """What executing an approval came to."""

    approval_id: Id
    status: Executed
    result: Any
