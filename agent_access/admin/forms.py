"""The form of a new connection, which makes one connection however often it is sent."""

from typing import Any
from uuid import UUID

from django import forms
from django.core import signing
from django.http import QueryDict
from typing_extensions import override
from uuid_utils.compat import uuid7

from agent_access.connections import ConnectionRequest
from agent_access.forms import LendingForm
from agent_access.models.connections import NAME_LENGTH
from agent_access.tools import registry

SALT = "agent_access.admin.new_connection"
TOO_OLD = "This form is too old. Please open it again."
FORM_LIFETIME_SECONDS = 12 * 60 * 60


class ConnectionForm(LendingForm):
    """`once` is the signed ID of the connection to be, chosen when the form was opened."""

    name = forms.CharField(
        max_length=NAME_LENGTH,
        label="Name",
        error_messages={"required": "Give it a name by which you will know it."},
    )
    once = forms.CharField(widget=forms.HiddenInput, error_messages={"required": TOO_OLD})

    field_order = ("name", "acts_as", "scopes", "expires_in_days", "once")

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, asked=registry.scopes)
        self.fields["acts_as"].error_messages["required"] = (
            "Choose the person whom the agent acts for."
        )
        self.initial["once"] = signing.dumps(str(uuid7()), salt=SALT)

    def clean_once(self) -> UUID:
        try:
            text = signing.loads(
                self.cleaned_data["once"], salt=SALT, max_age=FORM_LIFETIME_SECONDS
            )
        except signing.BadSignature:
            raise forms.ValidationError(TOO_OLD) from None
        return UUID(text)

    @override
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if "once" in self.errors:
            # Its field is not shown.
            self.add_error(None, self.errors.pop("once").data)
        return cleaned

    def read_request(self) -> ConnectionRequest:
        chosen = self.cleaned_data
        return ConnectionRequest(
            user=chosen["acts_as"],
            scopes=chosen["scopes"],
            days=chosen["expires_in_days"],
            name=chosen["name"],
        )
