"""Requests for what a person must approve, and what they decided."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7

from agent_access.models.connections import DIGEST_LENGTH
from agent_access.models.receipts import KEY_LENGTH

__all__ = ["ApprovalRequest", "Decision"]

KIND_LENGTH = 100
# More than a connection's name has room for: older rows may hold longer ones.
CONNECTION_NAME_LENGTH = 200
REJECTION_REASON_LENGTH = 500


class Decision(models.TextChoices):
    APPROVED = "approved"
    REJECTED = "rejected"


class ApprovalQuerySet(models.QuerySet["ApprovalRequest"]):
    def asked_of(self, user: Any) -> Self:
        """Return all that this person has, or had, to decide, whatever they may see now."""
        return self.filter(delegated_user=user)

    def undecided_at(self, now: datetime) -> Self:
        """Return those that nobody has decided and whose window is not over."""
        return self.filter(decision="", expires_at__gt=now)

    def missed(self, *, since: datetime, now: datetime) -> Self:
        """Return those whose window ended since then, and nobody has decided."""
        return self.filter(decision="", expires_at__gt=since, expires_at__lte=now)

    def standing(self) -> Self:
        """Return those that no newer request of their connection has replaced in the inbox."""
        return self.filter(replaced_at=None)


class ApprovalRequest(models.Model):
    """A request to do one act to one record as it was prepared, and what came of it.

    Its state is not stored but computed (approvals.states), so no job has to run for it to expire.
    `kind` is the name of its ApprovalKind and `target` the key of the record, with `target_version`
    as the kind numbers its versions. `facts` is the canonical JSON of all that was shown,
    `fingerprint` the SHA-256 of that in hexadecimal. Of the nonce only the digest is kept.
    `repeats` is how many requests for the same by this connection went before without a decision,
    each while the last was still valid, or None. The newest alone stands in the inbox: the others
    have a `replaced_at`, unless they are approved. `demand` says what signature the approval needed
    when it was given, as signing.demand_of() returns it; None of what was decided before this was
    kept.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=KIND_LENGTH, editable=False)
    happens_once = models.BooleanField(editable=False)
    target = models.UUIDField(editable=False)
    target_version = models.PositiveIntegerField(editable=False)
    delegated_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", db_index=False, editable=False
    )
    connection_id = models.UUIDField(editable=False)
    connection_name = models.CharField(max_length=CONNECTION_NAME_LENGTH, editable=False)
    facts = models.TextField(editable=False)
    fingerprint = models.CharField(max_length=DIGEST_LENGTH, editable=False)
    nonce_digest = models.CharField(max_length=DIGEST_LENGTH, editable=False)
    prepared_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField(editable=False)
    repeats = models.PositiveIntegerField(null=True, editable=False)
    replaced_at = models.DateTimeField(null=True, editable=False)

    decision = models.CharField(max_length=8, choices=Decision, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    rejection_reason = models.CharField(max_length=REJECTION_REASON_LENGTH, blank=True, default="")
    demand = models.TextField(null=True, editable=False)  # noqa: DJ001  empty is another answer

    # Set together by executing: the idempotency key, and the JSON that a retry with it gets again.
    executed_at = models.DateTimeField(null=True)
    execute_key = models.CharField(max_length=KEY_LENGTH, blank=True, default="")
    result = models.TextField(blank=True, default="")

    objects: ClassVar[ApprovalQuerySet] = ApprovalQuerySet.as_manager()  # type: ignore[assignment]  # a manager of it

    class Meta:
        indexes = [
            models.Index(fields=["delegated_user", "id"], name="agent_approval_by_delegate"),
            # Every page counts what waits for its person, however much waited or was asked before.
            models.Index(
                fields=["delegated_user", "expires_at", "id"],
                condition=Q(replaced_at=None),
                name="agent_approval_by_expiry",
            ),
            models.Index(fields=["connection_id", "id"], name="agent_approval_by_connection"),
            models.Index(
                fields=["target", "connection_id", "replaced_at"], name="agent_approval_by_target"
            ),
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
                condition=Q(expires_at__gt=F("prepared_at")), name="approval_expires_later"
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True) | Q(decided_at__lt=F("expires_at")),
                name="approval_decided_in_time",
            ),
            models.CheckConstraint(
                condition=Q(executed_at__isnull=True) | Q(executed_at__lt=F("expires_at")),
                name="approval_executed_in_time",
            ),
            models.UniqueConstraint(
                fields=["kind", "target"],
                condition=Q(executed_at__isnull=False, happens_once=True),
                name="agent_approval_one_execution",
            ),
        ]


class Sighting(models.Model):
    """Which request about a record its person looked at last, and which other one before that.

    By this a page shows them what changed since. It says nothing of what they decided, and only
    their own review pages read it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=KIND_LENGTH)
    target = models.UUIDField()
    shown = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="+", db_index=False)
    shown_at = models.DateTimeField()
    before = models.ForeignKey(
        ApprovalRequest, models.PROTECT, related_name="+", db_index=False, null=True
    )
    before_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("person", "kind", "target"), name="agent_approval_one_sighting"
            ),
        )
