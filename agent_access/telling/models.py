"""Whom to tell, what is to be told to them, and what came of it."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from agent_access.models.connections import DIGEST_LENGTH, HOST_LENGTH

TAG_LENGTH = 100
SUBJECT_LENGTH = 50
DEVICE_NAME_LENGTH = 100


class Preferences(models.Model):
    """How a person wants to be told; whoever changes what is told to them locks this row.

    Quiet hours are times of the day where the person is. `language` is the one in which they last
    chose, `digested_on` the day, where they are, of their last digest, and `heads_week` the Monday
    of the week in which they last got the heads of the audit.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+"
    )
    by_mail = models.BooleanField(default=False)
    shows_details = models.BooleanField(default=False)
    wants_digest = models.BooleanField(default=False, db_default=False)
    quiet_from = models.TimeField(null=True)
    quiet_until = models.TimeField(null=True)
    language = models.CharField(max_length=20, blank=True, default="")
    tested_at = models.DateTimeField(null=True)
    digested_on = models.DateField(null=True)
    wants_heads = models.BooleanField(default=False, db_default=False)
    heads_week = models.DateField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(quiet_from=None, quiet_until=None)
                | Q(quiet_from__isnull=False, quiet_until__isnull=False)
                & ~Q(quiet_from=F("quiet_until")),
                name="agent_telling_quiet_hours",
            ),
        )


class MutedConnection(models.Model):
    """A connection of which the person wants to hear nothing; its requests wait all the same."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False
    )
    connection_id = models.UUIDField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["person", "connection_id"], name="agent_telling_muted_once"
            ),
        )


class Problem(models.TextChoices):
    UNREACHABLE = "unreachable", _("It could not be reached.")
    REFUSED = "refused", _("It refused the message.")
    UNREADABLE = "unreadable", _("Its address can no longer be read: add this browser again.")


class Device(models.Model):
    """A browser that shows notifications to a person.

    `sealed` holds its push subscription, encrypted: the address is a capability, and so is the
    secret beside it. `service` is the host of the address.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    endpoint_digest = models.CharField(max_length=DIGEST_LENGTH, unique=True)
    sealed = models.TextField()
    service = models.CharField(max_length=HOST_LENGTH)
    name = models.CharField(max_length=DEVICE_NAME_LENGTH)
    added_at = models.DateTimeField()
    last_told_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=16, choices=Problem, blank=True, default="")


class Fate(models.TextChoices):
    """What became of a notification once it was known who is to hear of it."""

    TOLD = "told"
    SUMMARY = "summary"  # stands for all of its connection in a while
    COVERED = "covered"  # by such a summary
    OVER = "over"  # expired, or replaced by a newer one with the same tag
    UNWANTED = "unwanted"  # by the person's own choice


class Notification(models.Model):
    """That somebody was asked something: written with the question, and settled by a worker."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False
    )
    subject = models.CharField(max_length=SUBJECT_LENGTH)
    record_id = models.UUIDField()
    connection_id = models.UUIDField(null=True)
    tag = models.CharField(max_length=TAG_LENGTH)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    fate = models.CharField(max_length=16, choices=Fate, blank=True, default="")
    settled_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=("person",), condition=Q(settled_at=None), name="agent_telling_unsettled"
            ),
            # What was told lately of a connection, however much it asked.
            models.Index(fields=("connection_id", "settled_at"), name="agent_telling_of"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(settled_at=None, fate="") | Q(settled_at__isnull=False) & ~Q(fate=""),
                name="agent_telling_settled_with_fate",
            ),
        )


class Outcome(models.TextChoices):
    SENT = "sent"
    OVER = "over"  # decided, expired, out of sight or replaced before it was sent
    UNWANTED = "unwanted"  # by a choice that the person made meanwhile
    REFUSED = "refused"


class Delivery(models.Model):
    """One notification, to be told in one way: on a device, or by mail, which is no device.

    A worker claims it by moving `next_attempt_at` to when its lease ends: until then nobody else
    attempts it. `service` is the host of the device, or "mail".
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    notification = models.ForeignKey(Notification, models.CASCADE, related_name="+")
    device = models.ForeignKey(Device, models.CASCADE, null=True, related_name="+")
    service = models.CharField(max_length=HOST_LENGTH)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    outcome = models.CharField(max_length=16, choices=Outcome, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=("next_attempt_at",), condition=Q(ended_at=None), name="agent_telling_due"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["notification", "device"],
                condition=Q(device__isnull=False),
                name="agent_telling_once_a_device",
            ),
            models.UniqueConstraint(
                fields=["notification"],
                condition=Q(device=None),
                name="agent_telling_one_mail",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, outcome="") | Q(ended_at__isnull=False) & ~Q(outcome=""),
                name="agent_telling_ended_with_outcome",
            ),
        )
