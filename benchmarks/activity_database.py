"""The pages of activity, in one large database: how it is filled, and what they cost."""

from typing import Any

from benchmarks.goals import MISSED

MOST_MILLISECONDS = 50
CONNECTIONS = 120
DANAS = 40
PAGES = {
    "olivia@halden.example": (
        "",
        "kind=drafts.create",
        "kind=documents.issue",
        "outcome=refused",
        "outcome=rate_limited",
        "connection={connection}",
        "connection={connection}&outcome=conflict",
        "person={person}",
        "before=2026-01-01T00:00:00%2B00:00",
    ),
    "dana@halden.example": ("", "kind=drafts.update", "outcome=forbidden"),
}

# One event in ten writes, one in twenty-five is refused, one in two hundred is a decision. They are
# spread over ninety days, and over the connections in turn.
EVENTS = """
    INSERT INTO agent_access_auditevent (
        id, chain, sequence, occurred_at, actor_id, connection_id, action, target, outcome, detail,
        transport, request_id, client_address, digest
    )
    SELECT
        gen_random_uuid(), held.id::text, n / {connections} + 1,
        now() - (interval '90 days') * ({events} - n) / {events},
        held.user_id, held.id,
        CASE
            WHEN n % 200 = 7 THEN 'approval:approved'
            WHEN n % 10 = 1 THEN (ARRAY['drafts.create', 'drafts.update'])[1 + n % 2]
            ELSE 'documents.list'
        END,
        '',
        CASE
            WHEN n % 200 = 7 THEN 'ok'
            WHEN n % 25 = 3 THEN (ARRAY['forbidden', 'conflict', 'not_found'])[1 + n % 3]
            ELSE 'ok'
        END,
        (ARRAY(SELECT id::text FROM invoices_document ORDER BY id LIMIT 50))[1 + n % 50],
        CASE WHEN n % 200 = 7 THEN 'web' ELSE 'http' END,
        '', '', repeat('0', 64)
    FROM generate_series(0, {events} - 1) AS n
    JOIN (
        SELECT id, user_id, row_number() OVER (ORDER BY id) - 1 AS place
        FROM agent_access_connection
    ) AS held ON held.place = n % {connections}
"""
RECEIPTS = """
    INSERT INTO agent_access_receipt (
        id, connection_id, key, tool, call_digest, record_id, status, answer, is_encrypted,
        created_at
    )
    SELECT
        gen_random_uuid(), held.id, 'key-' || n,
        (ARRAY[
            'drafts.create', 'drafts.update', 'drafts.create', 'documents.issue_prepare'
        ])[1 + n % 4],
        repeat('0', 64),
        (ARRAY(SELECT id FROM invoices_document ORDER BY id LIMIT 50))[1 + n % 50],
        201, '', false,
        now() - (interval '90 days') * ({events} / 10 - n) / ({events} / 10)
    FROM generate_series(0, {events} / 10 - 1) AS n
    JOIN (
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM agent_access_connection
    ) AS held ON held.place = n % {connections}
"""
HEADS = """
    INSERT INTO agent_access_chainhead (chain, sequence, digest, last_used_at, is_open)
    SELECT chain, max(sequence), repeat('0', 64), max(occurred_at), true
    FROM agent_access_auditevent GROUP BY chain
    ON CONFLICT (chain) DO UPDATE
    SET sequence = excluded.sequence, last_used_at = excluded.last_used_at
"""


def fill_database(events: int) -> None:
    """Make connections of two people, and so many events of theirs without a true digest."""
    # Models can be read from here on only.
    from django.db import connection  # noqa: PLC0415  see above

    _make_connections()
    with connection.cursor() as cursor:
        for statement in (EVENTS, RECEIPTS):
            cursor.execute(statement.format(events=events, connections=CONNECTIONS))
        cursor.execute(HEADS)
        cursor.execute("VACUUM ANALYZE")


def _make_connections() -> None:
    from datetime import timedelta  # noqa: PLC0415  see above

    from django.utils import timezone  # noqa: PLC0415  see above

    from agent_access.models import Connection, ConnectionKind  # noqa: PLC0415  see above
    from invoicing.models import User  # noqa: PLC0415  see above

    dana = User.objects.get(email="dana@halden.example")
    others = list(User.objects.exclude(pk=dana.pk).order_by("email")[:8])
    owner = User.objects.get(email="olivia@halden.example")
    now = timezone.now()
    Connection.objects.all().delete()
    Connection.objects.bulk_create(
        Connection(
            kind=ConnectionKind.PASTED,
            name=f"Agent {number}",
            user=dana if number < DANAS else others[number % len(others)],
            grants=["invoices:read", "invoices:prepare"],
            credential_digest=f"{number:064}",
            owner_id=owner.pk,
            session_revision=1,
            base_url="https://localhost",
            created_at=now - timedelta(days=90),
            expires_at=now + timedelta(days=30),
        )
        for number in range(CONNECTIONS)
    )


def describe_database() -> list[str]:
    """Return a line of what each page costs, and its slowest statement."""
    from agent_access.models import AuditEvent, Connection  # noqa: PLC0415  see above
    from invoicing.models import User  # noqa: PLC0415  see above

    lines = [f"{AuditEvent.objects.count():,} events"]
    dana = User.objects.get(email="dana@halden.example")
    held = Connection.objects.filter(user=dana).first()
    for email, queries in PAGES.items():
        user = User.objects.get(email=email)
        for query in queries:
            asked = query.format(connection=held.pk if held else "", person=dana.pk)
            costs = measure_page(user, asked)
            total = sum(milliseconds for milliseconds, _ in costs)
            slowest, sql = max(costs)
            verdict = "within" if total <= MOST_MILLISECONDS else f"{MISSED}above"
            lines.append(
                f"{user.name}, {query or 'all'}: {len(costs)} statements, {total:.1f} ms,"
                f" {verdict} {MOST_MILLISECONDS} ms; the slowest {slowest:.1f} ms: {sql[:110]}"
            )
    return lines


def measure_page(user: Any, query: str) -> list[tuple[float, str]]:
    """Return the median milliseconds of each statement of the page."""
    from django.db import connection  # noqa: PLC0415  see above
    from django.http import QueryDict  # noqa: PLC0415  see above

    from benchmarks.search_pages import Statement, explain  # noqa: PLC0415  see above
    from invoicing.web.activity.address import read_address  # noqa: PLC0415  see above
    from invoicing.web.activity.page import describe_activity  # noqa: PLC0415  see above

    statements: list[Statement] = []

    def note(execute: Any, sql: str, parameters: Any, many: Any, context: Any) -> Any:
        statements.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        describe_activity(read_address(user, QueryDict(query)))
    return [(explain(*each)[0], each[0]) for each in statements if each[0].startswith("SELECT")]
