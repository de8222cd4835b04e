from enum import StrEnum

from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from agent_access.models.connections import DIGEST_LENGTH

ADMINISTRATION = "administration"
CHAIN_LENGTH = 36
TARGET_LENGTH = 100
DETAIL_LENGTH = 200


class Transport(StrEnum):
    """The ways in, as events name them."""

    HTTP = "http"
    MCP = "mcp"
    COMMAND = "command"
    WEB = "web"
    OAUTH = "oauth"


# What a connection's chain holds besides calls: what people decided, and its codes and tokens.
BESIDE_CALLS = ~models.Q(transport__in=[Transport.HTTP.value, Transport.MCP.value]) & ~models.Q(
    chain=ADMINISTRATION
)


class ChainHead(models.Model):
    """The end of one audit chain: one per connection (named by its ID) and one for administration.

    A closed head takes no more successful calls: revoking closes it, so a call in flight cannot
    commit afterwards.
    """

    chain = models.CharField(primary_key=True, max_length=CHAIN_LENGTH)
    sequence = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    last_used_at = models.DateTimeField(null=True)
    is_open = models.BooleanField(default=True)


class AuditEvent(models.Model):
    """One thing that happened, chained to the one before; never changed, only ever archived.

    `content_digest` is the SHA-256, in hexadecimal, of what the act was about; null where it is
    about no content, and in events of before it was kept.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    chain = models.CharField(max_length=CHAIN_LENGTH)
    sequence = models.PositiveBigIntegerField()
    occurred_at = models.DateTimeField()
    actor_id = models.UUIDField(null=True)
    connection_id = models.UUIDField(null=True)
    action = models.CharField(_("action"), max_length=100)
    target = models.CharField(max_length=TARGET_LENGTH, blank=True)
    outcome = models.CharField(max_length=32)
    detail = models.CharField(max_length=DETAIL_LENGTH, blank=True)
    transport = models.CharField(max_length=16)
    request_id = models.CharField(max_length=36, blank=True)
    client_address = models.CharField(max_length=45, blank=True)
    digest = models.CharField(max_length=DIGEST_LENGTH)
    content_digest = models.CharField(max_length=DIGEST_LENGTH, null=True)  # noqa: DJ001  a default would make SQLite copy the table

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        indexes = (
            models.Index(fields=("connection_id", "occurred_at"), name="agent_access_event_of"),
            models.Index(fields=("occurred_at",), name="agent_access_event_by_time"),
            # Counts what a connection was refused, however often it calls.
            models.Index(
                fields=("connection_id", "occurred_at"),
                condition=~models.Q(outcome="ok"),
                name="agent_access_refused",
            ),
            # Finds what was done to a connection, among all that it did itself.
            models.Index(
                fields=("connection_id", "occurred_at"),
                condition=models.Q(chain=ADMINISTRATION),
                name="agent_access_acts_on",
            ),
            # Lists what was refused, and what people decided, among all that agents did.
            models.Index(
                fields=("occurred_at",),
                condition=~models.Q(outcome="ok"),
                name="agent_access_refused_by_time",
            ),
            models.Index(
                fields=("connection_id", "occurred_at"),
                condition=BESIDE_CALLS,
                name="agent_access_beside_calls",
            ),
            models.Index(
                fields=("occurred_at",),
                condition=BESIDE_CALLS,
                name="agent_access_beside_by_time",
            ),
        )
        constraints = (
            models.UniqueConstraint(fields=("chain", "sequence"), name="agent_access_one_sequence"),
            models.CheckConstraint(
                condition=models.Q(sequence__gte=1), name="agent_access_sequence_from_one"
            ),
        )


class ArchiveMark(models.Model):
    """The last event of a chain that left for an archive: the chain goes on behind it (ADR 22).

    `before` is the moment before which everything went; `file_digest` is the SHA-256 of the file,
    in hexadecimal. Never changed, never deleted. There is none on SQLite.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    chain = models.CharField(max_length=CHAIN_LENGTH)
    sequence = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=DIGEST_LENGTH)
    before = models.DateTimeField()
    file_digest = models.CharField(max_length=DIGEST_LENGTH)
    archived_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("chain", "sequence"), name="agent_access_one_archive_mark"
            ),
        )
