"""The admin of roles, only for those who may give every right."""

import django.contrib.auth.admin  # noqa: F401  registers what is unregistered below
from django.contrib import admin
from django.contrib.auth.models import Group
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.confirming import ConfirmedRecordAdmin
from invoicing.admin.fields import PermissionsField
from invoicing.admin.records import RecordForm
from invoicing.administration.records import IsAllowed
from invoicing.models import Role
from invoicing.rights import may_give_every_right

# Django's own admin of groups would write without the audit.
admin.site.unregister(Group)


class RoleForm(RecordForm):
    permissions = PermissionsField(label=_("Permissions"))


@admin.register(Role)
class RoleAdmin(ConfirmedRecordAdmin):
    form = RoleForm
    fields = ("name", "permissions")
    search_fields = ("name",)
    ordering = ("name",)

    @override
    def find_sensitive(self, *, is_new: bool) -> frozenset[str]:
        return frozenset({"permissions"})

    @override
    def is_allowed(self, act: str) -> IsAllowed:
        return may_give_every_right
