"""What all acts find: one of each thing, which people, agents and clients want at once."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.test import Client

from agent_access.approvals.models import ApprovalRequest
from agent_access.audit import Actor
from agent_access.connections import SIGNED_OUT, ConnectionNotAllowedError
from agent_access.models import Connection
from agent_access.passkeys.models import Passkey
from agent_access.telling.models import Delivery, Device
from invoicing.models import Company, Customer, CustomerImport, Document, TaxRate, Team, User
from tests.administration import ORIGIN
from tests.agents import HttpAgent
from tests.approvals import Prepared
from tests.browsers import Browser
from tests.races.clients import Clients

# Of the web session in which passkeys are asked.
SESSION = "a" * 64
PAGE = "b" * 64
# Of a browser in which nobody has signed in.
COOKIE = "c" * 32


@dataclass(kw_only=True)
class People:
    """The owner, an administrator, the person whom agents act for, and others.

    Each act opens a browser of its own: one that was signed out by an act would stay so.
    """

    owner: User
    admin: User
    dana: User
    colin: User
    cookies: dict[UUID, str] = field(default_factory=dict)  # of who is signed in

    @property
    def desk(self) -> Client:
        """A browser where Dana is signed in, as it was when the stage was set."""
        return self._open_browser(self.dana)

    @property
    def owner_desk(self) -> Client:
        return self._open_browser(self.owner)

    def _open_browser(self, person: User) -> Client:
        browser = Browser()
        browser.cookies.load(self.cookies[person.pk])
        return browser


@dataclass(kw_only=True)
class Books:
    """The records: one customer, whose draft, invoice and credit note everybody wants."""

    company: Company
    customer: Customer
    other_customer: Customer
    rate: TaxRate
    team: Team
    invoice: Document
    draft: Document
    correction: Document
    other_correction: Document
    upload: CustomerImport
    new_code: str

    @property
    def issued_on(self) -> str:
        """The day on which the invoice was issued, as a form has it."""
        return f"{self.invoice.issued_at:%Y-%m-%d}"


@dataclass(kw_only=True)
class Agents:
    """Two connections of Dana's: of the draft, one asked and was allowed, the other asks."""

    connection: Connection
    agent: HttpAgent
    other_connection: Connection
    approved: Prepared
    asked: ApprovalRequest


@dataclass(kw_only=True)
class Keys:
    """Passkeys of Dana's and of the owner's, and what they signed."""

    passkey: Passkey
    signed: dict[str, str]
    registered: str
    recovered: str
    required_from: date


@dataclass(kw_only=True)
class Telling:
    """How Dana is told: in a browser, to which one notification is due."""

    device: Device
    delivery: Delivery
    subscription: dict[str, Any]


@dataclass(kw_only=True)
class Seen:
    """What pages showed before anybody acts: digests and fingerprints that forms send back."""

    dana: str
    customer: str
    company: str
    rate: str
    team: str
    numbering: str
    plan: str
    draft: str
    correction: str
    other_correction: str
    code: str
    link: str
    new_connection: UUID


@dataclass(kw_only=True)
class Stage:
    people: People
    books: Books
    agents: Agents
    keys: Keys
    clients: Clients
    telling: Telling
    seen: Seen

    def seen_by(self, person: User) -> User:
        """Return the person as a request reads them that begins now, if still signed in."""
        now = User.objects.get(pk=person.pk)
        if now.session_revision != person.session_revision:
            raise ConnectionNotAllowedError(SIGNED_OUT)
        return now

    def acting(self, person: User) -> Actor:
        """Return the person as actor of an act, in the session that they have had all along."""
        return Actor(ORIGIN, person.pk, person.session_revision)

    def nobody(self) -> Actor:
        """Return who has not signed in."""
        return Actor(ORIGIN, None)
