"""Requests to issue a document, and what the delegated person decided."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q

from invoicing.access import Permission
from invoicing.models.documents import Document
from invoicing.models.people import User
from invoicing.models.records import Record, RecordQuerySet

DIGEST_LENGTH = 64
EXECUTE_KEY_LENGTH = 80
REJECTION_REASON_LENGTH = 500


class Decision(models.TextChoices):
    APPROVED = "approved"
    REJECTED = "rejected"


class IssueApprovalQuerySet(RecordQuerySet["IssueApproval"]):
    def asked_of(self, user: User) -> Self:
        """Return all that this person has, or had, to decide, whatever they may see now."""
        return self.filter(delegated_user=user)

    def visible_to(self, user: User) -> Self:
        """Return those asked of this person whose document they see."""
        if not user.has_perm(Permission.VIEW_DOCUMENT):
            return self.none()
        documents = Document.objects.visible_to(user).values("pk")
        return self.asked_of(user).filter(document__in=documents)


class IssueApproval(Record):
    """A request to issue one draft as it was prepared, and what came of it.

    Its state is not stored but computed (invoicing.approval_states), so no job has to run for it to
    expire. `facts` is the canonical JSON of all that issuing would freeze, `fingerprint` the
    SHA-256 of that in hexadecimal. Of the nonce only the digest is kept.
    """

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="approvals")
    delegated_user = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="approvals", db_index=False
    )
    connection_id = models.UUIDField(editable=False)
    connection_name = models.CharField(max_length=200, editable=False)
    lock_version = models.PositiveIntegerField(editable=False)
    facts = models.TextField(editable=False)
    fingerprint = models.CharField(max_length=DIGEST_LENGTH, editable=False)
    nonce_digest = models.CharField(max_length=DIGEST_LENGTH, editable=False)
    prepared_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField(editable=False)

    decision = models.CharField(max_length=8, choices=Decision, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    rejection_reason = models.CharField(max_length=REJECTION_REASON_LENGTH, blank=True, default="")

    # Set together by executing: the idempotency key, and the JSON that a retry with it gets again.
    executed_at = models.DateTimeField(null=True)
    execute_key = models.CharField(max_length=EXECUTE_KEY_LENGTH, blank=True, default="")
    result = models.TextField(blank=True, default="")

    objects: ClassVar[IssueApprovalQuerySet] = IssueApprovalQuerySet.as_manager()  # type: ignore[assignment]  # a manager of it

    class Meta:
        indexes = [
            models.Index(fields=["delegated_user", "id"], name="approval_by_delegate"),
            # Every page counts what waits for its person, however much waited before.
            models.Index(fields=["delegated_user", "expires_at"], name="approval_by_expiry"),
            models.Index(fields=["connection_id", "id"], name="approval_by_connection"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(decision="", decided_at__isnull=True)
                | Q(decision__in=Decision.values, decided_at__isnull=False),
                name="approval_decided_at",
            ),
            models.CheckConstraint(
                condition=Q(rejection_reason="") | Q(decision=Decision.REJECTED),
                name="approval_reason_if_rejected",
            ),
            models.CheckConstraint(
                condition=Q(executed_at__isnull=True, execute_key="", result="")
                | Q(executed_at__isnull=False, decision=Decision.APPROVED)
                & ~Q(execute_key="")
                & ~Q(result=""),
                name="approval_executed_if_approved",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("prepared_at")), name="approval_expires_later"
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True) | Q(decided_at__lt=models.F("expires_at")),
                name="approval_decided_in_time",
            ),
            models.CheckConstraint(
                condition=Q(executed_at__isnull=True) | Q(executed_at__lt=models.F("expires_at")),
                name="approval_executed_in_time",
            ),
            models.UniqueConstraint(
                fields=["document"],
                condition=Q(executed_at__isnull=False),
                name="approval_one_execution",
            ),
        ]
