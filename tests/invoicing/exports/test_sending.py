"""How a file leaves: while its person may have it, in time, few at once, and seen to be whole."""

import zipfile
from io import BytesIO

import pytest

from agent_access.models import AuditEvent
from invoicing.access import Permission
from invoicing.administration import exports
from invoicing.administration.exports import BROKEN_OFF, begin_export
from invoicing.errors import PermissionMissingError
from invoicing.exports import cells, selection
from invoicing.exports.cells import Chunks
from invoicing.models import Customer, User
from tests.administration import acting, acts_written
from tests.factories import CustomerFactory, make_issued, withdraw
from tests.invoicing.exports.files import ask, download
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

RIGHTS = "the person may no longer have all of it"


@pytest.fixture
def issued(delegate, monkeypatch):
    """Two invoices of two customers, of which each is read alone, and each row leaves alone."""
    monkeypatch.setattr(selection, "AT_ONCE", 1)
    monkeypatch.setattr(cells, "CHUNK_LENGTH", 1)
    return [make_issued(user=delegate, customer=CustomerFactory.create()) for _ in range(2)]


def begin(person: User, *chunks: bytes, closed: list[bool] | None = None) -> Chunks:
    """Begin to send these chunks, which note that they were closed."""

    def write() -> Chunks:
        try:
            yield from chunks
        finally:
            if closed is not None:
                closed.append(True)

    source = write()
    return begin_export(source, actor=acting(person), kind="documents", begun="1 documents, all")


def hide(person: User) -> None:
    withdraw(person, Permission.VIEW_ALL_CUSTOMERS)
    person.managed_customers.set(Customer.objects.filter(documents__number="INV-2026-0001"))


def deactivate(person: User) -> None:
    User.objects.filter(pk=person.pk).update(is_active=False)


def sign_out(person: User) -> None:
    User.objects.filter(pk=person.pk).update(session_revision=person.session_revision + 1)


def forbid(person: User) -> None:
    withdraw(person, Permission.EXPORT)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("documents", hide),
        ("lines", hide),
        ("originals", hide),
        ("documents", deactivate),
        ("lines", sign_out),
        ("lines", forbid),
    ],
)
def test_an_export_ends_with_the_rights_of_its_person(
    sign_in, delegate, issued, caplog, kind, change
):
    answer = ask(sign_in(delegate), kind)
    before, chunks = acts_written(), iter(answer)
    taken = next(chunks) + next(chunks)
    while issued[0].number.encode() not in taken:
        taken += next(chunks)
    change(delegate)
    taken += b"".join(chunks)
    size = len(taken.removesuffix(BROKEN_OFF))
    assert size == len(taken) - len(BROKEN_OFF)
    assert issued[1].number.encode() not in taken
    assert not zipfile.is_zipfile(BytesIO(taken))
    assert acts_written() == [*before, ("export:ended_early", kind, f"{size} bytes, {RIGHTS}")]
    [line] = [each for each in caplog.records if each.name == exports.__name__]
    told = f"An export of {kind} by {delegate.pk} ended early: {RIGHTS}."
    assert (line.getMessage(), line.exc_info) == (told, None)


def test_rights_are_looked_at_while_a_finished_file_is_read_slowly(delegate, monkeypatch):
    monkeypatch.setattr(exports, "LOOK_AGAIN", -1)
    sent = begin(delegate, b"a", b"b", b"c")
    assert next(sent) == b"a"
    forbid(delegate)
    assert [*sent] == [BROKEN_OFF]


def test_an_export_that_is_not_taken_in_time_ends(delegate, monkeypatch):
    sent = begin(delegate, b"a", b"b", b"c")
    assert next(sent) == b"a"
    monkeypatch.setattr(exports, "MOST_SECONDS", -1)
    assert [*sent] == [BROKEN_OFF]
    detail = "1 bytes, it was not taken within 3600 seconds"
    assert acts_written()[-1] == ("export:ended_early", "documents", detail)


def test_an_export_that_fails_does_not_look_whole(delegate, caplog):
    def write() -> Chunks:
        yield b"a"
        raise OSError("The disk is full.")

    actor = acting(delegate)
    sent = begin_export(write(), actor=actor, kind="lines", begun="1 documents, all")
    assert [*sent] == [b"a", BROKEN_OFF]
    assert acts_written()[-1] == ("export:ended_early", "lines", "1 bytes, something failed")
    assert "OSError: The disk is full." in caplog.text


def test_what_is_not_taken_whole_is_not_audited_as_finished(delegate):
    closed: list[bool] = []
    sent = begin(delegate, b"a", b"b", closed=closed)
    before = acts_written()
    assert next(sent) == b"a"
    sent.close()
    assert (closed, acts_written()) == ([True], before)


def test_a_permission_withdrawn_at_the_last_moment_is_missed(delegate):
    withdraw(delegate, Permission.EXPORT)
    before = acts_written()
    closed: list[bool] = []
    for _ in range(exports.AT_ONCE + 1):
        with pytest.raises(PermissionMissingError):
            begin(delegate, b"a", closed=closed)
    assert (closed, acts_written()) == ([True] * (exports.AT_ONCE + 1), before)


def test_few_leave_at_once_and_the_next_is_told_so(sign_in, delegate, issued):
    desk = sign_in(delegate)
    sent = [begin(delegate, b"a") for _ in range(exports.AT_ONCE)]
    before = AuditEvent.objects.count()
    busy = ask(desk, "originals")
    assert (busy.status_code, AuditEvent.objects.count()) == (503, before)
    assert "Too many exports are being downloaded right now." in main_of(busy)
    sent[0].close()  # by a client that goes away before the first byte
    assert download(desk, "originals")
    assert [*sent[1]] == [b"a"]
