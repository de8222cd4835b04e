"""The form of a new connection."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from agent_access.forms import ConnectionTermsForm
from agent_access.models.connections import NAME_LENGTH
from agent_access.tools import registry

SALT = "agent_access.admin.new_connection"


class ConnectionForm(ConnectionTermsForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        label=_("Name"),
        error_messages={"required": _("Give it a name by which you will know it.")},
    )

    field_order = ("name", "acts_as", "scopes", "expires_in_days", "once")

    def __init__(self, data: QueryDict | None = None, *, approver: Any) -> None:
        super().__init__(data, approver=approver, scopes=registry.scopes, salt=SALT)
        self.fields["acts_as"].error_messages["required"] = _(
            "Choose the person whom the agent acts for."
        )
