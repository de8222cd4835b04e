from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from typing_extensions import override
from uuid_utils.compat import uuid7

DIGEST_LENGTH = 64
NAME_LENGTH = 100
CLIENT_ID_LENGTH = 255
HOST_LENGTH = 255


class ConnectionKind(models.TextChoices):
    PASTED = "pasted", _("Pasted credential")
    BROWSER = "browser", _("Browser sign-in")


class RevokedReason(models.TextChoices):
    OWNER_REVOKED = "owner_revoked", _("The owner revoked it")
    ACCESS_OFF = "access_off", _("Agent access was turned off")
    BROWSER_SIGN_IN_OFF = "browser_sign_in_off", _("Browser sign-in was turned off")
    SESSIONS_ENDED = "sessions_ended", _("The delegated user's sessions were ended")
    USER_DEACTIVATED = "user_deactivated", _("The delegated user was deactivated")
    USER_BECAME_GUEST = "user_became_guest", _("The delegated user became a guest")
    OWNER_CHANGED = "owner_changed", _("The ownership was transferred")
    APPLICATION_URL_CHANGED = "application_url_changed", _("The application's address changed")
    CODE_REUSE = "code_reuse", _("An authorization code was used twice")
    REFRESH_REUSE = "refresh_reuse", _("A refresh token was used twice")
    CLIENT_REVOKED = "client_revoked", _("The client gave it back")


class Connection(models.Model):
    """An owner-approved, expiring right of one program to act for one delegated user.

    `grants` holds scopes, and on connections of the pilot also single capabilities (the dotted
    name of a tool). Session revision, owner and application URL are those of the approval; each
    call compares them with today's. Of the OAuth client of a browser sign-in everything is kept as
    text, so that the evidence outlives the client.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=16, choices=ConnectionKind)
    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    grants = models.JSONField(default=list)
    credential_digest = models.CharField(max_length=DIGEST_LENGTH, unique=True, null=True)  # noqa: DJ001  unique where present
    client_id = models.CharField(max_length=CLIENT_ID_LENGTH, blank=True, default="")
    client_name = models.CharField(max_length=NAME_LENGTH, blank=True, default="")
    client_host = models.CharField(max_length=HOST_LENGTH, blank=True, default="")
    owner_id = models.UUIDField()
    session_revision = models.PositiveIntegerField()
    base_url = models.CharField(max_length=255)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    revoked_reason = models.CharField(max_length=32, choices=RevokedReason, blank=True)

    class Meta:
        verbose_name = _("connection")
        verbose_name_plural = _("connections")
        constraints = (
            models.CheckConstraint(
                condition=Q(kind=ConnectionKind.PASTED, client_id="")
                & Q(credential_digest__isnull=False)
                | Q(kind=ConnectionKind.BROWSER, credential_digest=None) & ~Q(client_id=""),
                name="agent_access_credential_or_client",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")), name="agent_access_expires_later"
            ),
            models.CheckConstraint(
                condition=Q(revoked_at=None, revoked_reason="")
                | Q(revoked_at__isnull=False) & ~Q(revoked_reason=""),
                name="agent_access_revoked_with_reason",
            ),
        )

    @override
    def __str__(self) -> str:
        return self.name

    def is_live(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.expires_at

    @staticmethod
    def live_at(now: datetime) -> Q:
        """Return the condition, for queries, that is_live() checks on one connection."""
        return Q(revoked_at=None, expires_at__gt=now)
