"""Audit events are only ever added: the database itself refuses everything else."""

import pytest
from django.db import DatabaseError, connection, transaction

from agent_access.models import AuditEvent

TABLE = "agent_access_auditevent"
COLUMNS = ", ".join(str(field.column) for field in AuditEvent._meta.fields)


@pytest.fixture
def event(agent) -> AuditEvent:
    agent.call("tools.list")
    return AuditEvent.objects.get(action="tools.list")


def assert_refused(statement: str) -> None:
    before = list(AuditEvent.objects.order_by("pk").values())
    with (
        pytest.raises(DatabaseError, match="audit events are never"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert list(AuditEvent.objects.order_by("pk").values()) == before


@pytest.mark.parametrize(
    "change", ["outcome = 'forbidden'", "detail = detail", "sequence = 9", "digest = ''"]
)
def test_an_event_is_never_changed(event, change):
    assert_refused(f"UPDATE {TABLE} SET {change} WHERE action = 'tools.list'")  # noqa: S608  our own words


@pytest.mark.parametrize("where", ["", " WHERE sequence = 1", " WHERE action = 'tools.list'"])
def test_an_event_is_never_deleted(event, where):
    assert_refused(f"DELETE FROM {TABLE}{where}")  # noqa: S608  our own words


@pytest.mark.postgresql
@pytest.mark.parametrize("how", ["", " CASCADE", " RESTART IDENTITY"])
def test_the_events_are_never_truncated(event, how):
    assert_refused(f"TRUNCATE {TABLE}{how}")


OTHER_ID = "'01890000000070008000000000000001'"


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("how", "taken", "values"),
    [
        ("REPLACE", "", {"outcome": "'forbidden'"}),
        ("INSERT OR REPLACE", "", {"outcome": "'forbidden'"}),
        ("REPLACE", "", {"sequence": "99"}),
        ("REPLACE", "", {"id": OTHER_ID}),
        ("REPLACE", "rowid, ", {"id": OTHER_ID, "sequence": "99"}),
    ],
    ids=["replaced", "by an insert", "its identifier", "its place", "its hidden rowid"],
)
def test_an_event_is_never_replaced_and_nothing_of_its_own_given_to_another(
    event, how, taken, values
):
    source = COLUMNS
    for column, value in values.items():
        source = source.replace(column, value, 1)
    row = f"SELECT {taken}{source} FROM {TABLE} WHERE action = 'tools.list'"  # noqa: S608  our own words
    assert_refused(f"{how} INTO {TABLE} ({taken}{COLUMNS}) {row}")


@pytest.mark.postgresql
def test_an_event_is_never_changed_by_an_insert_that_conflicts(event):
    source = f"SELECT {COLUMNS} FROM {TABLE} WHERE action = 'tools.list'"  # noqa: S608  our own words
    assert_refused(
        f"INSERT INTO {TABLE} ({COLUMNS}) {source} ON CONFLICT (id) DO UPDATE SET outcome = 'x'"
    )


def test_the_orm_can_neither_change_nor_delete_an_event(event):
    event.outcome = "forbidden"
    for act in (event.save, event.delete, AuditEvent.objects.all().delete):
        with pytest.raises(DatabaseError, match="audit events are never"), transaction.atomic():
            act()
    assert AuditEvent.objects.get(pk=event.pk).outcome == "ok"


def test_two_events_never_share_a_place_in_a_chain(event):
    twin = AuditEvent.objects.get(pk=event.pk)
    twin.pk = "0190f1f0-0000-7000-8000-000000000000"
    with pytest.raises(DatabaseError), transaction.atomic():
        twin.save(force_insert=True)
    assert AuditEvent.objects.filter(action="tools.list").count() == 1
