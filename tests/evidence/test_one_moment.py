"""A package is of one moment, whatever is written while it is made."""

from threading import Thread

import pytest
from django.db import connections, transaction
from django.utils import timezone

from agent_access.audit import OPERATOR, record_act
from agent_access.evidence.package import write_package
from agent_access.models import AuditEvent
from tests.evidence.packages import read_part
from tests.factories import make_issued

pytestmark = pytest.mark.django_db(transaction=True)


def write_elsewhere(user) -> None:
    """Issue a document and append an event, on another connection to the database."""

    def write() -> None:
        try:
            make_issued(user=user)
            with transaction.atomic():
                record_act("x:done", OPERATOR, content_digest="1" * 64)
        finally:
            connections.close_all()

    thread = Thread(target=write)
    thread.start()
    thread.join()


def test_what_is_written_meanwhile_is_not_in_it(delegate, customer, tmp_path, check):
    make_issued(user=delegate, customer=customer)
    with transaction.atomic():
        record_act("x:done", OPERATOR)
    file = tmp_path / "evidence.zip"
    with file.open("wb") as opened:
        for number, chunk in enumerate(write_package(made_at=timezone.now())):
            opened.write(chunk)
            if number < 8:
                write_elsewhere(delegate)
    assert AuditEvent.objects.filter(action="x:done").count() > 2
    assert [row["action"] for row in read_part(file, "events.jsonl")].count("x:done") == 1
    assert len(read_part(file, "documents.jsonl")) == 1
    assert check(file) == []
