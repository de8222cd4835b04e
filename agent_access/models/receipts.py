from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from agent_access.models.connections import DIGEST_LENGTH, Connection

KEY_LENGTH = 80
KEY_PATTERN = rf"^[A-Za-z0-9_-]{{1,{KEY_LENGTH}}}$"


class Receipt(models.Model):
    """What one keyed write answered, so that repeating it does nothing twice.

    The answer is kept as text, since a JSON column would reorder its keys; one that holds a secret
    is kept encrypted.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    connection = models.ForeignKey(
        Connection, models.PROTECT, related_name="receipts", db_index=False
    )
    key = models.CharField(
        _("key"), max_length=KEY_LENGTH, validators=[RegexValidator(KEY_PATTERN)]
    )
    tool = models.CharField(_("tool"), max_length=100)
    call_digest = models.CharField(max_length=DIGEST_LENGTH)
    record_id = models.UUIDField(null=True)
    status = models.PositiveSmallIntegerField(_("status"), null=True)
    answer = models.TextField(blank=True)
    is_encrypted = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = _("receipt")
        verbose_name_plural = _("receipts")
        indexes = (
            models.Index(fields=("created_at",), name="agent_access_receipt_by_time"),
            # The latest of one connection, however many it and others have.
            models.Index(fields=("connection", "created_at"), name="agent_access_receipt_of"),
        )
        constraints = (
            models.UniqueConstraint(fields=("connection", "key"), name="agent_access_one_receipt"),
        )
