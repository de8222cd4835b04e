"""The inputs of the tools; what may be asked of a draft is declared in `draft_fields.py`."""

import re
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, WithJsonSchema

from agent_access.approvals.shapes import Nonce
from agent_access.fields import WHOLE, OptionalId, ToolInput, problem
from invoicing.draft_fields import DraftInput
from invoicing.search.paging import SEARCH_LENGTH

DEFAULT_LIMIT = 25
MAX_LIMIT = 50
MAX_LOCK_VERSION = 2**31 - 1

CURSOR_PATTERN = (
    r"^([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12})?$"
)


def _check_cursor(value: UUID | None) -> UUID | None:
    """Refuse an ID that is no UUIDv7: the empty page behind it would be taken for the end."""
    if value is not None and not re.fullmatch(CURSOR_PATTERN, str(value)):
        raise problem("must be the value of next from an earlier page")
    return value


Cursor = Annotated[
    OptionalId,
    AfterValidator(_check_cursor),
    WithJsonSchema({"type": ["string", "null"], "pattern": CURSOR_PATTERN}),
]


class PageInput(ToolInput):
    """A search and a place in a list. Interface: Limits."""

    search: Annotated[
        str | None,
        Field(
            max_length=SEARCH_LENGTH,
            description="Words; a record is found if each of them begins one of its words.",
        ),
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Records per page."), WHOLE] = (
        DEFAULT_LIMIT
    )
    after: Annotated[Cursor, Field(description="The value of next from the previous page.")] = None


class PeoplePageInput(PageInput):
    team_id: Annotated[OptionalId, Field(description="Only members of this team.")] = None


LockVersion = Annotated[
    int,
    Field(ge=1, le=MAX_LOCK_VERSION, description="The draft's version as it was last read."),
    WHOLE,
]


class DraftUpdateInput(DraftInput):
    lock_version: LockVersion


class IssuePrepareInput(ToolInput):
    lock_version: LockVersion


class IssueInput(ToolInput):
    nonce: Annotated[Nonce, Field(description="The nonce that documents.issue_prepare gave.")]
