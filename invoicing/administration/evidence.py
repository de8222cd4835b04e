"""Packages of evidence, as acts of the owner."""

from functools import partial
from tempfile import TemporaryFile

from django.utils import timezone

from agent_access.audit import Actor
from agent_access.evidence.package import VERIFIER, write_package
from invoicing.administration.exports import begin_export
from invoicing.exports.cells import CHUNK_LENGTH, Chunks
from invoicing.rights import is_owner

__all__ = ["VERIFIER", "begin_evidence"]


def begin_evidence(*, actor: Actor) -> Chunks:
    """Audit that a package of this moment begins to leave, and return it; it has to be closed.

    Raises what begin_export() does: PermissionMissingError for everybody but the owner.
    """
    return begin_export(
        _read_package(), actor=actor, kind="evidence", begun="all of it", is_allowed=is_owner
    )


def _read_package() -> Chunks:
    """Yield a package that is complete: its transaction ends before anything leaves.

    Whoever takes it slowly would else keep the database from tidying up.
    """
    with TemporaryFile() as file:  # which nobody else can open
        for chunk in write_package(made_at=timezone.now()):
            file.write(chunk)
        file.seek(0)
        yield from iter(partial(file.read, CHUNK_LENGTH), b"")
