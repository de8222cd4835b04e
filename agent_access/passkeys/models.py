"""The passkeys of people, what they were asked to sign, and what they signed."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from typing_extensions import override
from uuid_utils.compat import uuid7

from agent_access.models.connections import DIGEST_LENGTH

__all__ = ["Challenge", "Passkey", "Signature", "SigningRules"]

NAME_LENGTH = 100
# An ID has at most 1,023 bytes (WebAuthn, section 4).
CREDENTIAL_ID_LENGTH = 1364
PURPOSE_LENGTH = 16


class PasskeyQuerySet(models.QuerySet["Passkey"]):
    def kept_by(self, person: object) -> Self:
        """Return those that the person has not removed, the oldest first."""
        return self.filter(person=person, removed_at=None).order_by("pk")


class Passkey(models.Model):
    """A passkey of a person; once it is removed its row stays, for it may have signed something.

    `credential_id` and `public_key` (COSE, RFC 9052) are base64 for URLs, without padding.
    `counter` is what its authenticator last counted; many always say 0. `is_apart` says that, as
    the person told us when they added it, it is kept on a device that no agent can use.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    credential_id = models.CharField(max_length=CREDENTIAL_ID_LENGTH, unique=True)
    public_key = models.TextField()
    counter = models.PositiveBigIntegerField()
    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    is_apart = models.BooleanField(default=False)
    is_synced = models.BooleanField(default=False)
    added_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    objects = PasskeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("passkey")
        verbose_name_plural = _("passkeys")
        constraints = (
            models.CheckConstraint(
                condition=Q(removed_at=None) | Q(removed_at__gte=F("added_at")),
                name="agent_passkeys_removed_later",
            ),
        )

    @override
    def __str__(self) -> str:
        return self.name


class Challenge(models.Model):
    """What a passkey is asked to sign: stored before, for one person, session and use.

    `content` is the canonical JSON whose SHA-256 the passkey signs. Who signs in has no person yet.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+"
    )
    purpose = models.CharField(max_length=PURPOSE_LENGTH)
    content = models.TextField()
    digest = models.CharField(max_length=DIGEST_LENGTH, unique=True)
    session = models.CharField(max_length=DIGEST_LENGTH)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)


class Signature(models.Model):
    """What a person signed with a passkey, with all that is needed to verify it; only ever added.

    `record_id` is the approval's ID, or by hand the record's. `challenge` is the canonical JSON
    whose SHA-256 is the challenge of WebAuthn, and `facts` the one whose SHA-256 is the
    `fingerprint` in it. `client_data`, `authenticator_data` and `signature` are what the browser
    sent, `public_key` the one that verified it, all in base64 for URLs. `demand` is why it had to
    be signed.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    purpose = models.CharField(max_length=PURPOSE_LENGTH)
    record_id = models.UUIDField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    passkey = models.ForeignKey(Passkey, models.PROTECT, related_name="+")
    public_key = models.TextField()
    origin = models.CharField(max_length=255)
    relying_party = models.CharField(max_length=255)
    challenge = models.TextField()
    client_data = models.TextField()
    authenticator_data = models.TextField()
    signature = models.TextField()
    facts = models.TextField()
    fingerprint = models.CharField(max_length=DIGEST_LENGTH)
    demand = models.TextField()
    signed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["purpose", "record_id"], name="agent_passkeys_one_signature"
            ),
        )


class SigningRules(models.Model):
    """What has to be signed, as the owner chose: one row. No row means nothing.

    `connections` and `parties` are lists of IDs. `limits` holds, by unit, up to which value nothing
    has to be signed, as a decimal text; once it holds any, every other unit counts as above.
    With `apart` a signature counts only with a passkey that is kept apart, in a session that it
    began.
    """

    ONLY_ID = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY_ID, editable=False)
    always = models.BooleanField(default=False)
    connections = models.JSONField(default=list)
    parties = models.JSONField(default=list)
    limits = models.JSONField(default=dict)
    apart = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = _("signed approvals")
        constraints = (
            models.CheckConstraint(condition=Q(id=1), name="agent_passkeys_one_row_of_rules"),
        )

    @classmethod
    def read(cls) -> Self:
        """Return the row without a lock, or an unsaved one that demands nothing."""
        return cls.objects.filter(pk=cls.ONLY_ID).first() or cls()

    @classmethod
    def lock(cls) -> Self:
        """Return the row, locked until the transaction ends."""
        return cls.objects.select_for_update().get_or_create(pk=cls.ONLY_ID)[0]
