"""Exports, as acts of a person: begun with what is in them, finished with a digest.

While a file leaves, a thread of the server waits for whoever reads it, and gets no say before they
have read on. So there are few exports at once, each with an end, and rights are looked at again.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import chain
from threading import BoundedSemaphore
from time import monotonic

from django.db import Error

from agent_access.audit import Actor
from invoicing.access import EXPORT_PERMISSIONS
from invoicing.administration.acts import (
    act_of,
    locked_administration,
    read_actor,
    record_admin_act,
)
from invoicing.errors import InvoicingError, PermissionMissingError
from invoicing.exports.cells import Chunks
from invoicing.models import User

# For each process, which has eight threads or so.
AT_ONCE = 2
# Seconds: after the first no export goes on, and the person is looked at again after the others.
MOST_SECONDS = 60 * 60
LOOK_AGAIN = 10

# How a file ends that is not whole: a table would look so. The server ends the answer as any other.
BROKEN_OFF = b'\r\n"This file is not complete: the export was ended before its end."\r\n'

_turns = BoundedSemaphore(AT_ONCE)
logger = logging.getLogger(__name__)


class TooManyExportsError(InvoicingError):
    """This process sends as many files as it may."""


class _TooSlowError(InvoicingError):
    """The file was not taken in time."""


# Why an export ends that has not failed.
REASONS: dict[type[Exception], str] = {
    PermissionMissingError: "the person may no longer have all of it",
    _TooSlowError: f"it was not taken within {MOST_SECONDS} seconds",
}


IsAllowed = Callable[[User], bool]


def may_export(user: User) -> bool:
    return user.has_perms(EXPORT_PERMISSIONS)


def read_exporter(actor: Actor, is_allowed: IsAllowed = may_export) -> User:
    """Return the person as of now; raises PermissionMissingError if they may not export."""
    person = read_actor(actor)
    if not is_allowed(person):
        raise PermissionMissingError
    return person


def begin_export(
    chunks: Chunks, *, actor: Actor, kind: str, begun: str, is_allowed: IsAllowed = may_export
) -> Chunks:
    """Audit that a file begins to leave, and return it; it has to be closed.

    `begun` says what is in it. The audit gets the size and digest of a file that was taken whole,
    and the size of one that ended early. Raises TooManyExportsError, PermissionMissingError, and
    what the first chunk does.
    """
    sent = _send(chunks, actor=actor, kind=kind, begun=begun, is_allowed=is_allowed)
    next(sent)  # so that to close it gives its turn back
    return sent


def _send(chunks: Chunks, *, actor: Actor, kind: str, begun: str, is_allowed: IsAllowed) -> Chunks:
    """Yield nothing once the export has begun, then the file."""
    with _turn(), closing(chunks):
        first = next(chunks)
        with act_of(actor, is_allowed):
            record_admin_act("export:begun", target=kind, actor=actor, detail=begun)
        yield b""
        digest, size = sha256(), 0
        try:
            for chunk in _watch(chain([first], chunks), actor, is_allowed):
                digest.update(chunk)
                size += len(chunk)
                yield chunk
        except Exception as error:  # noqa: BLE001  else what is missing would not be seen
            _tell(error, actor=actor, kind=kind, size=size)
            yield BROKEN_OFF
        else:
            detail = f"{size} bytes, SHA-256 {digest.hexdigest()}"
            _record_end("finished", actor=actor, kind=kind, detail=detail)


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(blocking=False):
        raise TooManyExportsError
    try:
        yield
    finally:
        _turns.release()


def _watch(chunks: Iterator[bytes], actor: Actor, is_allowed: IsAllowed) -> Iterator[bytes]:
    """Yield the chunks as long as they are taken in time by a person who may have them."""
    begun_at = looked_at = monotonic()
    for chunk in chunks:
        now = monotonic()
        if now - begun_at > MOST_SECONDS:
            raise _TooSlowError
        if now - looked_at > LOOK_AGAIN:
            read_exporter(actor, is_allowed)
            looked_at = now
        yield chunk


def _tell(error: Exception, *, actor: Actor, kind: str, size: int) -> None:
    """Log and audit why an export ends early."""
    reason = REASONS.get(type(error))
    told = f"An export of {kind} by {actor.id} ended early: {reason or 'something failed'}."
    logger.log(
        logging.WARNING if reason else logging.ERROR, told, exc_info=None if reason else error
    )
    try:
        detail = f"{size} bytes, {reason or 'something failed'}"
        _record_end("ended_early", actor=actor, kind=kind, detail=detail)
    except Error:
        logger.exception("The audit lacks that an export ended early.")


def _record_end(how: str, *, actor: Actor, kind: str, detail: str) -> None:
    with locked_administration():
        record_admin_act(f"export:{how}", target=kind, actor=actor, detail=detail)
