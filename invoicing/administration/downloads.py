"""Records what people download, and whose evidence they open."""

from collections.abc import Callable

from django.db import transaction

from agent_access.audit import Actor
from invoicing.administration.acts import read_actor, record_admin_act
from invoicing.errors import PermissionMissingError
from invoicing.models import Document, OriginalKind, User
from invoicing.rights import may_read_evidence

IsAllowed = Callable[[User], bool]


def record_download(
    actor: Actor, document: Document, kind: OriginalKind, *, digest: str, is_allowed: IsAllowed
) -> None:
    """Append that the actor gets this file of a document; `digest` is the SHA-256 of the file.

    Raises PermissionMissingError if they may not have it any more.
    """
    _record("document:downloaded", actor, document, is_allowed, detail=f"{kind} {digest}")


def record_opening(actor: Actor, document: Document) -> None:
    """Append that the actor opens the page with the evidence of a document.

    Raises PermissionMissingError if they may not see it any more.
    """
    _record("document:evidence_opened", actor, document, may_read_evidence)


@transaction.atomic
def _record(
    action: str, actor: Actor, document: Document, is_allowed: IsAllowed, detail: str = ""
) -> None:
    record_admin_act(action, target=document.pk, actor=actor, detail=detail)
    # Whoever takes a permission, or ends a session, holds the lock that the event needs, too.
    if not is_allowed(read_actor(actor)):
        raise PermissionMissingError
