"""The forms of a new connection, and of its name."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from agent_access.connections import MAX_DAYS, MIN_DAYS
from agent_access.forms import ConnectionTermsForm
from agent_access.models.connections import NAME_LENGTH, Connection
from agent_access.tools import registry

SALT = "agent_access.admin.new_connection"


class ConnectionForm(ConnectionTermsForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        label=_("Name"),
        error_messages={"required": _("Give it a name by which you will know it.")},
    )

    field_order = ("name", "acts_as", "scopes", "expires_in_days", "once")

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        approver: Any,
        renews: Connection | None = None,
    ) -> None:
        """With `renews` the form is filled with what that connection has, to be approved anew."""
        super().__init__(data, approver=approver, scopes=registry.scopes, salt=SALT)
        if renews:
            days = (renews.expires_at - renews.created_at).days
            self.initial.update(
                {
                    "name": renews.name,
                    "acts_as": renews.user_id,
                    "scopes": [each for each in renews.grants if each in registry.scopes],
                    "expires_in_days": min(max(days, MIN_DAYS), MAX_DAYS),
                }
            )
        self.fields["acts_as"].error_messages["required"] = _(
            "Choose the person whom the agent acts for."
        )


class RenamingForm(forms.Form):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        label=_("Name"),
        help_text=_("What it made before keeps the name that it had then."),
        error_messages={"required": _("Give it a name by which you will know it.")},
    )
