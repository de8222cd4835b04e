"""What is decided for every connection: who is acted for, which scopes, how long."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core import signing
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy
from typing_extensions import override
from uuid_utils.compat import uuid7

from agent_access import conf
from agent_access.connections import MAX_DAYS, MIN_DAYS
from agent_access.visible_text import mark_invisible

TOO_OLD = gettext_noop("This form is too old. Please open it again.")
FORM_LIFETIME_SECONDS = 12 * 60 * 60


class DelegateField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic for mypy only
    """A choice of users, with their sign-in names to tell namesakes apart."""

    @override
    def label_from_instance(self, obj: Any) -> str:
        return mark_invisible(f"{obj} ({obj.get_username()})")


def days_field(most: int = MAX_DAYS) -> forms.IntegerField:
    """Return the field of the days that a connection lasts, at most so many."""
    return forms.IntegerField(
        label=gettext_lazy("Expires in days"),
        help_text=format_lazy(
            gettext_lazy("{least} to {most}. You can revoke access at any time before."),
            least=MIN_DAYS,
            most=most,
        ),
        min_value=MIN_DAYS,
        max_value=most,
        initial=most,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"),
            format_lazy(gettext_lazy("Choose {least} to {most} days."), least=MIN_DAYS, most=most),
        ),
    )


class TermsForm(forms.Form):
    """What a connection may and how long it lasts; what cannot be undone is not preselected."""

    scopes = forms.MultipleChoiceField(
        label=pgettext_lazy("what a connection may", "May"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one.")},
    )
    expires_in_days = days_field()

    def __init__(self, data: QueryDict | None = None, *, scopes: Sequence[str]) -> None:
        super().__init__(data, label_suffix="")
        terms = conf.policy().scopes()
        self.fields["scopes"].choices = [(scope, terms[scope].description) for scope in scopes]  # type: ignore[attr-defined]  # a MultipleChoiceField
        self.initial["scopes"] = [scope for scope in scopes if terms[scope].is_ticked_beforehand]


class ConnectionTermsForm(TermsForm):
    """The terms of a new connection; no user is preselected.

    `once` is the ID of the connection to be made, chosen when the form was opened and signed with
    `salt`: however often the form is sent, it makes one connection.
    """

    acts_as = DelegateField(
        queryset=None,
        label=gettext_lazy("Acts as"),
        help_text=gettext_lazy("No call can do more than this person may do at that moment."),
        empty_label=gettext_lazy("Choose a person"),
        error_messages={"required": gettext_lazy("Choose the person whom the client acts for.")},
    )
    once = forms.CharField(
        widget=forms.HiddenInput, error_messages={"required": gettext_lazy(TOO_OLD)}
    )

    def __init__(
        self, data: QueryDict | None = None, *, approver: Any, scopes: Sequence[str], salt: str
    ) -> None:
        super().__init__(data, scopes=scopes)
        self.approver = approver
        self.salt = salt
        self.initial["once"] = signing.dumps(str(uuid7()), salt=salt)
        delegates: QuerySet[Any] = conf.policy().delegates(approver)
        self.fields["acts_as"].queryset = delegates  # type: ignore[attr-defined]  # a DelegateField

    def clean_once(self) -> UUID:
        signed = self.cleaned_data["once"]
        try:
            text = signing.loads(signed, salt=self.salt, max_age=FORM_LIFETIME_SECONDS)
        except signing.BadSignature:
            raise forms.ValidationError(gettext(TOO_OLD)) from None
        return UUID(text)

    @override
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if "once" in self.errors:
            # Shown above the form, since the field is hidden.
            self.add_error(None, self.errors.pop("once").data)
        return cleaned

    def read_terms(self) -> dict[str, Any]:
        """Return what a valid form says of a ConnectionRequest: all but its name."""
        chosen = self.cleaned_data
        return {
            "approver": self.approver,
            "user": chosen["acts_as"],
            "scopes": chosen["scopes"],
            "days": chosen["expires_in_days"],
            "connection_id": chosen["once"],
        }
