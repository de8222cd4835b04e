"""The shapes of the tools' answers: the interface's fields, and what each may hold.

The OpenAPI document is made of the annotations of the functions, and shows the docstrings here.
"""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from agent_access.approvals.models import REJECTION_REASON_LENGTH
from agent_access.approvals.shapes import Executed, Id, Instant, Nonce, Url
from agent_access.approvals.states import ApprovalState
from invoicing import shown
from invoicing.agent_tools.inputs import MAX_LOCK_VERSION
from invoicing.field_kinds import AMOUNT_PATTERN, CURRENCY_PATTERN, DATE_SCHEMA
from invoicing.identifiers import CROCKFORD_BASE_32, DRAFT_CODE_CHARACTERS, DRAFT_CODE_PREFIX
from invoicing.models import DocumentStatus, DocumentType
from invoicing.money import MOST_DECIMALS
from invoicing.number_formats import NUMBER_LENGTH

DRAFT_CODE_PATTERN = rf"^{DRAFT_CODE_PREFIX}[{CROCKFORD_BASE_32}]{{{DRAFT_CODE_CHARACTERS}}}$"
TIME_PATTERN = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"


IsoDate = Annotated[date | str, WithJsonSchema(DATE_SCHEMA)]

Amount = Annotated[
    str, Field(pattern=AMOUNT_PATTERN, description='In minor units: "12500" is 125.00 EUR.')
]
LockVersion = Annotated[int, Field(ge=1, le=MAX_LOCK_VERSION)]
CurrencyCode = Annotated[str, Field(pattern=CURRENCY_PATTERN)]
MinorUnit = Annotated[
    int, Field(ge=0, le=MOST_DECIMALS, description="Decimal digits of the currency.")
]
# The owner chooses how numbers are written.
Number = Annotated[str, Field(min_length=1, max_length=NUMBER_LENGTH)]


class Customer(TypedDict):
    id: Id
    name: str


class Totals(TypedDict):
    currency_code: CurrencyCode
    minor_unit: MinorUnit
    net_total: Amount
    discount_total: Amount
    tax_total: Amount
    grand_total: Amount


class Header(Totals):
    customer_id: Id
    issue_date: IsoDate
    due_date: IsoDate


class DocumentSummary(Header):
    """A document as it stands in a list."""

    id: Id
    type: DocumentType
    status: DocumentStatus
    number: Annotated[Number | None, Field(description="Null until the document is issued.")]
    draft_code: Annotated[str, Field(pattern=DRAFT_CODE_PATTERN)]
    lock_version: LockVersion
    connection_id: Annotated[Id | None, Field(description="Null for a document by a person.")]
    href: Annotated[Url, Field(description="The document's page, for people.")]


# Derived from the models and from what may be asked of a draft.
if TYPE_CHECKING:
    Line: TypeAlias = dict[str, Any]
    TaxRow: TypeAlias = dict[str, Any]

    class Texts(TypedDict):
        language: str

else:
    Line, TaxRow, Texts = shown.LINE.type, shown.TAX_ROW.type, shown.TEXTS.type


class Content(Texts):
    line_items: list[Line]
    tax_breakdown: list[TaxRow]


class Document(DocumentSummary, Content):
    """A document with its texts, lines and taxes."""

    issued_at: Instant | None


class Preview(Header, Content):
    """What a draft would say; nothing was saved."""


class Approval(Totals):
    """The request to issue a draft: the facts as they were prepared, and where it stands now."""

    approval_id: Id
    status: ApprovalState
    document_id: Id
    lock_version: LockVersion
    customer: Customer
    issue_date: IsoDate
    due_date: IsoDate
    tax_breakdown: list[TaxRow]
    prepared_at: Instant
    expires_at: Instant
    decided_at: Instant | None
    executed_at: Instant | None
    rejection_reason: Annotated[str, Field(max_length=REJECTION_REASON_LENGTH)] | None
    stale_fields: Annotated[
        list[str], Field(description="The paths that differ from what was prepared.")
    ]
    review_url: Annotated[Url, Field(description="Where the person decides.")]


class PreparedApproval(Approval):
    """A new approval, with the nonce that executing it needs, told only here."""

    nonce: Nonce


class Execution(TypedDict):
    """What executing an approval came to: the issued document and its number."""

    approval_id: Id
    status: Executed
    number: Number
    document: Document


class Person(TypedDict):
    id: Id
    name: str
    work_email: Annotated[str, WithJsonSchema({"type": "string", "format": "email"})]
    job_title: str | None
    skills: list[str]
    team_ids: list[Id]
    manager_id: Id | None
    time_zone: Annotated[str, Field(description="An IANA name.")]


class Hours(TypedDict):
    start: Annotated[str, Field(pattern=TIME_PATTERN)]
    end: Annotated[str, Field(pattern=TIME_PATTERN)]


class WeeklyHours(TypedDict):
    monday: list[Hours]
    tuesday: list[Hours]
    wednesday: list[Hours]
    thursday: list[Hours]
    friday: list[Hours]
    saturday: list[Hours]
    sunday: list[Hours]


class PersonWithHours(Person):
    """A person with the weekly working hours, in that person's own time zone."""

    weekly_working_hours: WeeklyHours


class Team(TypedDict):
    id: Id
    name: str
    description: str | None
    lead_ids: list[Id]
    member_ids: list[Id]
