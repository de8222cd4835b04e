"""Sets the stage in an empty database, by the services where there is one."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.test import override_settings
from django.utils import timezone
from uuid_utils.compat import uuid7

from agent_access.audit import Actor
from agent_access.connections import ConnectionRequest, create_connection
from agent_access.models import Connection
from agent_access.oauth import client_documents
from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.switches import turn_access, turn_sign_in
from agent_access.telling.devices import add_device
from agent_access.telling.models import Delivery
from agent_access.telling.outbox import settle_all
from agent_access.telling.preferences import mute
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.administration.numbering import digest_numbering
from invoicing.administration.passkeys import earliest_day, make_passkey_link_as_operator
from invoicing.administration.people import digest_person
from invoicing.administration.sign_ins import make_code
from invoicing.customer_imports.waiting import plan_import
from invoicing.models import Company, Customer, Document, TaxRate, Team, User
from invoicing.services.drafts import ConnectionRef
from invoicing.services.numbering import read_numbering
from invoicing.services.record_changes import digest_record
from invoicing.web.drafts.codes import give_code
from tests.administration import ORIGIN
from tests.agents import HttpAgent
from tests.approvals import Prepared, fingerprint_draft, prepare
from tests.browsers import Browser
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    TeamFactory,
    UserFactory,
    give_password,
    grant,
    line_input,
    make_correction,
    make_draft,
    make_issued,
)
from tests.invoicing.customer_imports.imports import upload
from tests.passkeys import SoftPasskey, challenge_in, encode
from tests.races.clients import fetch_document, stage_clients
from tests.races.stage import (
    COOKIE,
    PAGE,
    SESSION,
    Agents,
    Books,
    Keys,
    People,
    Seen,
    Stage,
    Telling,
)
from tests.signing import demand
from tests.telling.push_service import WEB_PUSH_KEY

UNLIMITED = ("LIMIT_PER_CONNECTION", "LIMIT_PER_ADDRESS", "LIMIT_REGISTER", "LIMIT_TOKEN")


@contextmanager
def as_staged() -> Iterator[None]:
    """Let people be told, no limit be reached, bugs be raised, and a client's document be found."""
    changed = {
        **dict.fromkeys(UNLIMITED, 10**9),
        "RAISE_UNFORESEEN": True,
        "WEB_PUSH_KEY": WEB_PUSH_KEY,
        "MAIL_FROM": "invoices@halden.example",
    }
    access = {**settings.AGENT_ACCESS, **changed}
    with (
        override_settings(AGENT_ACCESS=access),
        patch.object(client_documents, "fetch", fetch_document),
    ):
        yield


def set_stage() -> Stage:
    """Fill an empty database."""
    people = _stage_people()
    books = _stage_books(people)
    turn_access(on=True)
    turn_sign_in(on=True)
    subscription = _subscribe("https://push.example/one")
    device = add_device(people.dana, subscription, name="Chrome")
    agents = _stage_agents(people, books)
    keys = _stage_keys(people, agents)
    clients = stage_clients(people.owner, people.dana)
    mute(people.dana, clients.connection.pk)
    return Stage(
        people=people,
        books=books,
        agents=agents,
        keys=keys,
        clients=clients,
        telling=Telling(
            device=device,
            delivery=Delivery.objects.get(device=device),
            subscription=_subscribe("https://push.example/two"),
        ),
        seen=_look(people, books),
    )


def _stage_people() -> People:
    company = CompanyFactory.create(
        owner__email="olivia@halden.example",
        email="invoices@halden.example",
        electronic_address="DE123456789",
        electronic_address_scheme="9930",
        contact_name="Dana",
        phone="+49 40 123456",
    )
    every = tuple(Permission)
    people = People(
        owner=company.owner,
        admin=UserFactory.create(name="Ada", is_staff=True, is_superuser=True),
        dana=UserFactory.create(name="Dana", permissions=every),
        colin=UserFactory.create(name="Colin", permissions=every),
    )
    grant(people.owner, *every)
    for person in (people.owner, people.dana):
        give_password(person)
    for person in (people.owner, people.dana):
        browser = Browser()
        browser.force_login(person)
        people.cookies[person.pk] = browser.cookies.output(attrs=[], header="", sep=";")
    return people


def _stage_books(people: People) -> Books:
    rate = TaxRateFactory.create(name="VAT standard", category="S")
    customer = CustomerFactory.create(
        name="Acme Ltd",
        customer_number="1",
        account_managers=[people.dana],
        electronic_address="12345678",
        electronic_address_scheme="0106",
        buyer_reference="04011000-12345-03",
    )
    own: Any = {
        "user": people.dana,
        "customer": customer,
        "lines": (line_input(tax_rate_id=rate.pk),),
    }
    invoice = make_issued(**own)
    return Books(
        company=Company.objects.get(),
        customer=customer,
        other_customer=CustomerFactory.create(name="Beta Ltd", customer_number="2"),
        rate=rate,
        team=TeamFactory.create(members=[people.colin]),
        invoice=invoice,
        draft=make_draft(**own),
        correction=make_correction(invoice),
        other_correction=make_correction(invoice),
        upload=upload(people.dana, "Number,Name", "1,Acme and Sons", "3,Gamma"),
        new_code=give_code(people.dana),
    )


def _stage_agents(people: People, books: Books) -> Agents:
    def connect(name: str) -> tuple[Connection, HttpAgent]:
        request = ConnectionRequest(user=people.dana, scopes=registry.scopes, days=30, name=name)
        connection, credential = create_connection(request)
        return connection, HttpAgent(credential)

    def ask(by: Connection) -> Prepared:
        maker = ConnectionRef(by.pk, by.name)
        return prepare(books.draft, user=people.dana, connection=maker, now=now)

    now = timezone.now()
    (connection, agent), (other, _) = connect("Agent"), connect("Other agent")
    asked = ask(other)
    settle_all(now=now)
    approved = ask(connection)  # of which nobody has been told yet
    approved.decide(now=now)
    return Agents(
        connection=connection,
        agent=agent,
        other_connection=other,
        approved=approved,
        asked=asked.approval,
    )


def _stage_keys(people: People, agents: Agents) -> Keys:
    dana, soft, spare = people.dana, SoftPasskey(), SoftPasskey()
    passkey = soft.keep_for(dana)
    spare.keep_for(dana, age=timedelta(days=2), name="Spare")
    owners = SoftPasskey()
    owners.keep_for(people.owner)
    demand(connections=[str(agents.other_connection.pk)])
    required_from = earliest_day()

    def ask(purpose: str, session: str = SESSION, person: Any = dana, **content: str) -> bytes:
        return challenge_bytes(make_challenge(purpose, session=session, person=person, **content))

    to_approve = people.desk.post(f"/approvals/{agents.asked.pk}/sign").json()["publicKey"]
    owners_session = _digest(f"session:{people.owner_desk.session.session_key}")
    rule = ask("rule", owners_session, people.owner, day=required_from.isoformat())

    return Keys(
        passkey=passkey,
        registered=SoftPasskey().register(ask("register")),
        recovered=SoftPasskey().register(ask("recover")),
        signed={
            "add": spare.sign(ask("add")),
            "remove": spare.sign(ask("remove", about=str(passkey.pk))),
            "confirm": soft.sign(ask("confirm", page=PAGE)),
            "approve": soft.sign(challenge_in(to_approve)),
            "sign-in": soft.sign(ask("sign-in", _digest(f"csrf:{COOKIE}"), None)),
            "rule": owners.sign(rule),
        },
        required_from=required_from,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _subscribe(endpoint: str) -> dict[str, Any]:
    """Return what the PushSubscription of a browser says of itself."""
    key = generate_private_key(SECP256R1()).public_key()
    point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return {"endpoint": endpoint, "keys": {"p256dh": encode(point), "auth": encode(bytes(16))}}


def _look(people: People, books: Books) -> Seen:
    owner = Actor(ORIGIN, people.owner.pk)
    dana = User.objects.get(pk=people.dana.pk)
    return Seen(
        dana=digest_person(dana),
        customer=digest_record(Customer.objects.get(pk=books.customer.pk)),
        company=digest_record(Company.objects.get()),
        rate=digest_record(TaxRate.objects.get(pk=books.rate.pk)),
        team=digest_record(Team.objects.get(pk=books.team.pk)),
        numbering=digest_numbering(read_numbering(2026), 2026),
        plan=plan_import(dana, books.upload).digest(),
        draft=fingerprint_draft(Document.objects.get(pk=books.draft.pk)),
        correction=fingerprint_draft(Document.objects.get(pk=books.correction.pk)),
        other_correction=fingerprint_draft(Document.objects.get(pk=books.other_correction.pk)),
        code=make_code(owner, dana.pk),
        link=make_passkey_link_as_operator(dana).partition("#")[2],
        new_connection=uuid7(),
    )
