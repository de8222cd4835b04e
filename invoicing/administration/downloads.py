"""Records what people download, and whose evidence they open."""

from django.db import transaction

from agent_access.audit import Actor
from invoicing.administration.acts import record_admin_act
from invoicing.models import Document, OriginalKind


@transaction.atomic
def record_download(actor: Actor, document: Document, kind: OriginalKind, *, digest: str) -> None:
    """Append that the actor got this file of a document; `digest` is the SHA-256 of the file."""
    detail = f"{kind} {digest}"
    record_admin_act("document:downloaded", target=document.pk, actor=actor, detail=detail)


@transaction.atomic
def record_opening(actor: Actor, document: Document) -> None:
    """Append that the actor opened the page with the evidence of a document."""
    record_admin_act("document:evidence_opened", target=document.pk, actor=actor)
