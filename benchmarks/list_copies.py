"""Fills a database with the documents of a company of five years, a million if need be, by SQL.

Customers differ in size and currency, agents write only since two years, one of them since this
week: what a list is narrowed to seldom lies evenly in the order that it has. Lines are left out,
and of the words that are searched all but the labels by which lists walk.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction

from invoicing.models import (
    Customer,
    Document,
    DocumentStatus,
    DocumentType,
    NumberSeries,
    User,
)
from invoicing.search.table import TABLE, Kind, label_of
from invoicing.services.customers import create_customers

CUSTOMERS, WRITERS, YEARS = 5000, 20, range(2022, 2027)
# Customers without documents, all of them before the others by name.
PROSPECTS = 30_000
SEES_MANY, SEES_MANY_OF = "many@halden.example", 3
DRAFTS_IN_A_HUNDRED, CREDIT_NOTES_IN_A_HUNDRED = 3, 2

# What differs from the model, by column, of the n-th document of {count}. `size` is random, the
# same in each run, and `buyer` the customer's place: the first has more than one in a hundred.
_SIZE = "(('x' || substr(md5('size' || n), 1, 7))::bit(28)::int / 268435456.0)"
_BUYER = (
    "floor({customers} * power(('x' || substr(md5('buyer' || n), 1, 7))::bit(28)::int"
    " / 268435456.0, 2))::int"
)
_DAY = "date '2022-01-01' + (1790 * n / {count})::int"
_TOTAL = "(1000 + 100000 * power(size, 4))::bigint"
_CODE = " || ".join(
    "substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',"
    f" ((n * 694847539187 & 1099511627775) >> {5 * place} & 31)::int + 1, 1)"
    for place in range(8)
)
_VALUES = {
    "id": (
        "(lpad(to_hex((extract(epoch FROM day) * 1000)::bigint + n), 12, '0') || '7'"
        " || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid"
    ),
    "draft_code": f"'D-' || {_CODE}",
    "customer_id": "(%(customers)s::uuid[])[buyer + 1]",
    "issue_date": "day",
    "due_date": "day + 30",
    "currency_code": (
        "(ARRAY['EUR','EUR','EUR','EUR','EUR','EUR','USD','USD','JPY','CHF'])[buyer %% 10 + 1]"
    ),
    "minor_unit": "CASE WHEN buyer %% 10 = 8 THEN 0 ELSE 2 END",
    "net_total": _TOTAL,
    "grand_total": _TOTAL,
    "tax_total": "0",
    "discount_total": "0",
    "created_by_id": "(%(writers)s::uuid[])[n %% {writers} + 1]",
    "connection_id": (
        "CASE WHEN n > {count} - 500 THEN '0190f1f0-0000-7000-8000-000000000001'::uuid"
        " WHEN day > date '2025-01-01' AND n %% 2 = 0 THEN"
        " ('0190f1f0-0000-7000-8000-00000000001' || n %% 10)::uuid END"
    ),
    "connection_name": (
        "CASE WHEN day > date '2025-01-01' AND n %% 2 = 0 THEN 'Ledger agent' ELSE '' END"
    ),
    "created_at": "day",
    "updated_at": "day",
    "corrects_id": "NULL::uuid",
    "type": "kind",
    "buyer_name": "'Harbour ' || buyer",
}
_ISSUED = {
    "number": "upper(left(kind, 2)) || '-' || extract(year FROM day) || '-' || n",
    "series_id": "series.id",
    "series_value": "n",
    "issued_at": "day",
}


def fill_database(count: int) -> None:
    """Write so many documents, in batches in the order of their dates."""
    customers = _make_customers()
    writers = [person.pk for person in _make_writers()]
    _make_reader(customers)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        connection.connection.receive_timeout = None
    _make_series()
    with transaction.atomic(), connection.cursor() as cursor:
        # Its guards are for documents written one by one.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE invoices_document DISABLE TRIGGER USER")
        values = {"customers": [each.pk for each in customers], "writers": writers}
        for status in DocumentStatus:
            cursor.execute(_copy(status, count), values)
        cursor.execute("ALTER TABLE invoices_document ENABLE TRIGGER USER")
    _write_labels()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _make_customers() -> Sequence[Customer]:
    """Make customers, of whom some have no documents; return those who have."""
    made = create_customers([Customer(name=f"Harbour {n:05}") for n in range(2 * CUSTOMERS)])
    Customer.objects.filter(pk__in=[each.pk for each in made[-200:]]).update(is_active=False)
    create_customers([Customer(name=f"Annex {n:05}") for n in range(PROSPECTS)])
    return made[::2]


def _make_writers() -> list[User]:
    return [
        User.objects.create_user(f"writer{n}@halden.example", name=f"Writer {n}")
        for n in range(WRITERS)
    ]


def _make_reader(customers: Sequence[Customer]) -> None:
    """Make somebody who manages so many customers that no list of theirs is short."""
    few = User.objects.get(email="milo@halden.example")
    many = User.objects.create_user(SEES_MANY, name="Many")
    many.groups.set(few.groups.all())
    many.user_permissions.set(few.user_permissions.all())
    many.managed_customers.set(customers[::SEES_MANY_OF])
    few.managed_customers.add(*customers[1000:1010])


def _make_series() -> None:
    for year in YEARS:
        for kind in DocumentType:
            NumberSeries.objects.get_or_create(type=kind, year=year)


def _copy(status: DocumentStatus, count: int) -> str:
    is_draft = status == DocumentStatus.DRAFT
    new = _VALUES if is_draft else _VALUES | _ISSUED
    columns = [str(field.column) for field in Document._meta.concrete_fields]
    names = {"count": count, "customers": CUSTOMERS, "writers": WRITERS}
    values = ", ".join(new.get(column, f"model.{column}") for column in columns).format(**names)
    drafts = f"n %% 100 < {DRAFTS_IN_A_HUNDRED}"
    credited = f"n %% 100 >= {100 - CREDIT_NOTES_IN_A_HUNDRED}"
    kind = f"CASE WHEN {credited} THEN 'credit_note' ELSE 'invoice' END"
    return (
        f"INSERT INTO invoices_document ({', '.join(columns)}) SELECT {values} FROM"  # noqa: S608  names of our own
        f" (SELECT n, {_DAY.format(**names)} AS day, {_BUYER.format(**names)} AS buyer,"
        f" {_SIZE} AS size, {kind} AS kind FROM generate_series(1::bigint, {count}) AS n"
        f" WHERE {'' if is_draft else 'NOT '}({drafts})) AS made"
        f" CROSS JOIN (SELECT * FROM invoices_document WHERE status = '{status}' LIMIT 1) AS model"
        " LEFT JOIN invoices_numberseries AS series"
        " ON series.type = kind AND series.year = extract(year FROM day) ORDER BY n"
    )


def _write_labels() -> None:
    """Write the labels of all documents anew: they walk along these."""
    labels: list[tuple[Any, str]] = [
        (label_of(Kind.DOCUMENT), "TRUE"),
        *((label_of(Kind.DOCUMENT, each), f"status = '{each}'") for each in DocumentStatus),
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        for label, condition in labels:
            cursor.execute(
                f"INSERT INTO {TABLE} (word, customer, record)"  # noqa: S608  names of our own
                " SELECT %s, substr(uuid_send(customer_id), 13), uuid_send(id)"
                f" FROM invoices_document WHERE {condition} ON CONFLICT DO NOTHING",
                [label],
            )
