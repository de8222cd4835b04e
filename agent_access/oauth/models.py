"""The records of browser sign-in: clients, codes and tokens, the last two as digests only.

The columns are the toolkit's, in tables of our own: each foreign key names a model of this module,
so a project's own use of the toolkit and these records never meet (ADR 16). Added are the
connection that a code or token belongs to, and when a code was exchanged. Codes and tokens stay
after their use, since a second use must be seen (`retention`).
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from oauth2_provider import models as toolkit
from typing_extensions import override
from uuid_utils.compat import uuid7

from agent_access.models.audit import TARGET_LENGTH
from agent_access.models.connections import DIGEST_LENGTH, Connection
from agent_access.oauth.return_addresses import host_of, is_registered


class Application(toolkit.AbstractApplication):
    """A client that registered itself, or whose metadata document was read: always public."""

    class Meta(toolkit.AbstractApplication.Meta):
        verbose_name = _("OAuth client")
        verbose_name_plural = _("OAuth clients")
        indexes = (models.Index(fields=["created"], name="agent_oauth_application_age"),)

    @property
    def return_addresses(self) -> list[str]:
        return str(self.redirect_uris).split()

    def host_at(self, return_address: str) -> str:
        """Return the host of the client's document, or of its address if it registered itself."""
        return host_of(str(self.client_id) if self.has_document else return_address)

    @property
    def has_document(self) -> bool:
        """Whether it is known by its metadata document and not by a registration."""
        return bool(self.registration_source == self.RegistrationSource.CIMD)

    @property
    def audit_target(self) -> str:
        """The client's identifier as the target of events, cut to what fits."""
        return str(self.client_id)[:TARGET_LENGTH]

    @override
    def redirect_uri_allowed(self, uri: str) -> bool:
        return is_registered(uri, self.return_addresses)


class Grant(toolkit.AbstractGrant):
    """An authorization code; `code` holds its digest."""

    application = models.ForeignKey(Application, models.CASCADE)  # type: ignore[assignment]  # not the toolkit's
    connection = models.ForeignKey(Connection, models.PROTECT, related_name="codes")
    consumed_at = models.DateTimeField(null=True)

    class Meta(toolkit.AbstractGrant.Meta):
        pass


class AccessToken(toolkit.AbstractAccessToken):
    id_token = None  # no OpenID Connect
    application = models.ForeignKey(  # type: ignore[assignment]  # not the toolkit's
        Application, models.CASCADE, null=True, blank=True
    )
    source_refresh_token = models.OneToOneField(  # type: ignore[assignment]  # not the toolkit's
        "RefreshToken",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="refreshed_access_token",
    )
    connection = models.ForeignKey(Connection, models.PROTECT, related_name="access_tokens")

    class Meta(toolkit.AbstractAccessToken.Meta):
        pass


class RefreshToken(toolkit.AbstractRefreshToken):
    """A refresh token; `revoked` is when it was rotated."""

    application = models.ForeignKey(Application, models.CASCADE)  # type: ignore[assignment]  # not the toolkit's
    access_token = models.OneToOneField(  # type: ignore[assignment]  # not the toolkit's
        AccessToken, models.SET_NULL, null=True, blank=True, related_name="refresh_token"
    )
    connection = models.ForeignKey(Connection, models.PROTECT, related_name="refresh_tokens")

    class Meta(toolkit.AbstractRefreshToken.Meta):
        unique_together = ()  # type: ignore[assignment]  # replaced by the constraint
        indexes = ()  # type: ignore[assignment]  # a connection is a token family
        constraints = (
            models.UniqueConstraint(fields=["token_checksum"], name="agent_oauth_one_refresh"),
        )


class AccessRequest(models.Model):
    """What a person asked the owner for: a client that acts for them, and what the owner answered.

    No code is kept, nor anything to make one of: the asking page has all of the client's request,
    of which `request_digest` is the SHA-256, as `session_digest` is of its web session's key. The
    connection gets the ID of this row. `decider_revision` is that of the owner's web sessions.
    """

    class Decision(models.TextChoices):
        ALLOWED = "allowed"
        REFUSED = "refused"
        WITHDRAWN = "withdrawn"  # by asking anew

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    client = models.ForeignKey(Application, models.CASCADE, related_name="access_requests")
    request_digest = models.CharField(max_length=DIGEST_LENGTH)
    session_digest = models.CharField(max_length=DIGEST_LENGTH)
    return_address = models.TextField()
    scopes = models.JSONField()
    days = models.PositiveSmallIntegerField()
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    decision = models.CharField(max_length=9, choices=Decision, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+"
    )
    decider_revision = models.PositiveIntegerField(null=True)
    allowed_scopes = models.JSONField(default=list)
    allowed_days = models.PositiveSmallIntegerField(null=True)
    minted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["person", "client"],
                condition=Q(decision=""),
                name="agent_oauth_one_open_request",
            ),
            models.CheckConstraint(
                condition=Q(decision="", decided_at=None)
                | ~Q(decision="") & Q(decided_at__isnull=False),
                name="agent_oauth_decided_at",
            ),
            models.CheckConstraint(
                condition=Q(minted_at=None) | Q(decision="allowed"),
                name="agent_oauth_minted_if_allowed",
            ),
        )

    @property
    def client_host(self) -> str:
        return str(self.client.host_at(self.return_address))
