"""Valid records for tests, made by the services where there is one."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, TypeVar
from uuid import uuid4

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Permission as PermissionRow
from django.db.models import F, Model
from factory.declarations import Sequence, SubFactory
from factory.django import DjangoModelFactory
from typing_extensions import override

from invoicing.access import Permission
from invoicing.draft_fields import CorrectionInput, DraftInput, LineItemInput
from invoicing.fixed_point import SCALE, format_fixed_point
from invoicing.models import Company, Customer, Document, DocumentType, TaxRate, Team, User
from invoicing.services.corrections import create_correction, read_balance
from invoicing.services.customers import create_customers
from invoicing.services.drafts import ConnectionRef, create_draft
from invoicing.services.issuing import issue_document
from tests.clocks import at

_Record = TypeVar("_Record", bound=Model)

PASSWORD = "a-long-password-for-tests"
ISSUE_DATE = date(2026, 3, 2)
DUE_DATE = date(2026, 4, 1)
ISSUED_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class RecordFactory(DjangoModelFactory[_Record]):
    """Accepts many-to-many values as well: `TeamFactory.create(members=[...])`."""

    class Meta:
        abstract = True

    @override
    @classmethod
    def _create(cls, model_class: type[_Record], *args: Any, **kwargs: Any) -> _Record:
        names = [field.name for field in model_class._meta.many_to_many]
        related = {name: kwargs.pop(name) for name in names if name in kwargs}
        record: _Record = super()._create(model_class, *args, **kwargs)
        for name, values in related.items():
            getattr(record, name).set(values)
        return record


class UserFactory(RecordFactory[User]):
    """Accepts `permissions` too, which are given to the person directly."""

    class Meta:
        model = User

    name = Sequence(lambda number: f"Person {number}")
    email = Sequence(lambda number: f"person{number}@halden.example")
    # An unusable password: most tests sign nobody in, and hashing is slow.
    password = "!"
    # They were asked at an earlier sign-in.
    time_zone_chosen_at = ISSUED_AT

    @override
    @classmethod
    def _create(cls, model_class: type[User], *args: Any, **kwargs: Any) -> User:
        permissions = kwargs.pop("permissions", ())
        user: User = super()._create(model_class, *args, **kwargs)
        grant(user, *permissions)
        return user


class TeamFactory(RecordFactory[Team]):
    class Meta:
        model = Team

    name = Sequence(lambda number: f"Team {number}")


class CompanyFactory(RecordFactory[Company]):
    class Meta:
        model = Company

    name = "Halden Works"
    street = "Harbour Street 1"
    postcode = "20457"
    city = "Hamburg"
    country = "DE"
    vat_number = "DE136695976"
    iban = "DE02120300000000202051"
    bic = "BYLADEM1001"
    owner = SubFactory(UserFactory, name="Olivia Owner")


class CustomerFactory(RecordFactory[Customer]):
    class Meta:
        model = Customer

    name = Sequence(lambda number: f"Customer {number}")
    street = "Mill Lane 7"
    postcode = "1011 AB"
    city = "Amsterdam"
    country = "NL"
    vat_number = "NL004495445B01"

    @override
    @classmethod
    def _create(cls, model_class: type[Customer], *args: Any, **kwargs: Any) -> Customer:
        managers = kwargs.pop("account_managers", ())
        [customer] = create_customers([Customer(**kwargs)])
        customer.account_managers.set(managers)
        return customer


class TaxRateFactory(RecordFactory[TaxRate]):
    class Meta:
        model = TaxRate

    name = "Standard rate"
    percentage_ten_thousandths = 19 * SCALE


@cache  # hashing is slow
def _hash_password() -> str:
    return make_password(PASSWORD)


def give_password(person: User) -> None:
    """Let the person sign in with PASSWORD, as if it had been theirs before: nothing ends."""
    User.objects.filter(pk=person.pk).update(
        password=_hash_password(), password_upgrades=F("password_upgrades") + 1
    )
    person.refresh_from_db(fields=["password", "password_upgrades"])


def grant(user: User, *permissions: str) -> None:
    """Give permissions directly, and clear the caches of the user object."""
    if not permissions:
        return
    user.user_permissions.add(*_permission_rows(permissions))
    _forget_permissions(user)


def withdraw(user: User, *permissions: str) -> None:
    """Take directly given permissions away, and clear the caches of the user object."""
    user.user_permissions.remove(*_permission_rows(permissions))
    _forget_permissions(user)


def _permission_rows(permissions: Iterable[str]) -> Iterable[PermissionRow]:
    codenames = [permission.removeprefix("invoices.") for permission in permissions]
    return PermissionRow.objects.filter(content_type__app_label="invoices", codename__in=codenames)


def _forget_permissions(user: User) -> None:
    for name in ("_perm_cache", "_user_perm_cache", "_group_perm_cache"):
        user.__dict__.pop(name, None)


def make_staff(*permissions: str, **fields: Any) -> User:
    """Return a person who sees all customers and holds the permissions."""
    return UserFactory.create(permissions=[Permission.VIEW_ALL_CUSTOMERS, *permissions], **fields)


def make_auditor(audits_until: date, *permissions: str, **fields: Any) -> User:
    """Return a guest who may read evidence to the end of that day, and what else is given."""
    return UserFactory.create(
        is_guest=True,
        audits_until=audits_until,
        permissions=[Permission.AUDIT, *permissions],
        **fields,
    )


def line_input(**fields: Any) -> LineItemInput:
    """Return a line of 2 x 50.00 without discount or tax, changed by `fields`.

    They are given as columns keep them; what the wire has as a text is written as one.
    """
    asked = {"description": "Consulting", "quantity": 2 * SCALE, "unit_price": 5000, **fields}
    asked["quantity"] = format_fixed_point(asked["quantity"])
    return LineItemInput.model_validate(_as_on_the_wire(asked))


def draft_input(customer: Customer, *lines: LineItemInput, **fields: Any) -> DraftInput:
    """Return a valid draft in EUR with these lines, or one, changed by `fields`."""
    asked = {
        "customer_id": customer.id,
        "currency_code": "EUR",
        "issue_date": ISSUE_DATE,
        "due_date": DUE_DATE,
        **fields,
    }
    line_items = [*lines] or [line_input()]
    return DraftInput.model_validate({**_as_on_the_wire(asked), "line_items": line_items})


def _as_on_the_wire(asked: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in asked.items()}


def make_draft(
    *,
    user: User | None = None,
    customer: Customer | None = None,
    lines: tuple[LineItemInput, ...] = (),
    connection: ConnectionRef | None = None,
    document_type: DocumentType = DocumentType.INVOICE,
    **fields: Any,
) -> Document:
    """Save a draft by the service; `fields` are those of its header."""
    user = user or make_staff()
    customer = customer or CustomerFactory.create()
    draft = draft_input(customer, *lines, **fields)
    made = create_draft(user, draft, connection=connection, document_type=document_type)
    return made.document


def make_issued(*, issued_at: datetime = ISSUED_AT, **draft: Any) -> Document:
    """Save a draft and issue it; make a company if there is none."""
    if not Company.objects.exists():
        CompanyFactory.create()
    return issue_document(make_draft(**draft), clock=at(issued_at))


def make_connection_ref(name: str = "Ledger agent") -> ConnectionRef:
    """Return the ID and name of a connection, which need not exist, as a document keeps them."""
    return ConnectionRef(connection_id=uuid4(), connection_name=name)


def ask_correction(
    original: Document,
    *quantities: int | None,
    issue_date: date = ISSUE_DATE,
    reason: str = "Delivered too little.",
) -> CorrectionInput:
    """Return a correction of so much of each line, in ten-thousandths; without any, of the rest."""
    left = {pk: part.quantity for pk, part in read_balance(original).left.lines.items()}
    chosen = dict(zip(left, quantities, strict=True)) if quantities else left
    asked = {
        "issue_date": issue_date.isoformat(),
        "correction_reason": reason,
        "quantities": {pk: quantity for pk, quantity in chosen.items() if quantity},
    }
    return CorrectionInput.model_validate(asked)


def make_correction(
    original: Document, *quantities: int | None, user: User | None = None, **fields: Any
) -> Document:
    """Save the draft of a credit note by the service, as ask_correction() describes it."""
    asked = ask_correction(original, *quantities, **fields)
    return create_correction(user or original.created_by, original.pk, asked)
