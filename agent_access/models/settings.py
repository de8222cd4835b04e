from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _


class AccessSettings(models.Model):
    """The owner's switches: one row. No row means that everything is off.

    It also keeps when the audit was last verified, and how many chains were broken then; None if
    that was never kept. `backed_up_at` is when an operator last told of a backup, or None.
    """

    ONLY_ID = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY_ID, editable=False)
    access_on = models.BooleanField(default=False)
    browser_sign_in_on = models.BooleanField(default=False)
    modules_off = models.JSONField(default=list)
    audit_verified_at = models.DateTimeField(null=True)
    chains_broken = models.PositiveIntegerField(null=True)
    backed_up_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = _("switches")
        constraints = (
            models.CheckConstraint(condition=models.Q(id=1), name="agent_access_one_settings_row"),
        )

    @classmethod
    def read(cls) -> Self:
        """Return the row without a lock, or an unsaved one with everything off."""
        return cls.objects.filter(pk=cls.ONLY_ID).first() or cls()

    @classmethod
    def lock(cls) -> Self:
        """Return the row locked, so that a switch and a new connection wait for each other."""
        return cls.objects.select_for_update().get_or_create(pk=cls.ONLY_ID)[0]
