"""Exports of documents, as acts of a person: begun with a count, finished with a digest."""

from contextlib import closing
from hashlib import sha256

from agent_access.audit import Actor
from invoicing.access import EXPORT_PERMISSIONS
from invoicing.administration.acts import act_of, locked_administration, record_admin_act
from invoicing.exports.cells import Chunks
from invoicing.models import User


def may_export(user: User) -> bool:
    return user.has_perms(EXPORT_PERMISSIONS)


def record_begin(actor: Actor, *, kind: str, selection: str, count: int) -> None:
    """Audit that so many documents begin to leave; raises PermissionMissingError."""
    with act_of(actor, may_export):
        detail = f"{count} documents, {selection}"
        record_admin_act("export:begun", target=kind, actor=actor, detail=detail)


def follow(chunks: Chunks, *, actor: Actor, kind: str) -> Chunks:
    """Yield the chunks, and audit the size and the digest of all; nothing if they are not taken."""
    digest, size = sha256(), 0
    with closing(chunks):
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            yield chunk
    with locked_administration():
        detail = f"{size} bytes, SHA-256 {digest.hexdigest()}"
        record_admin_act("export:finished", target=kind, actor=actor, detail=detail)
