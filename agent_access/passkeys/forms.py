"""The forms of passkeys; a script fills their hidden fields with what the browser answered."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from agent_access.passkeys.keeping import NewPasskey
from agent_access.passkeys.models import NAME_LENGTH


class NewPasskeyForm(forms.Form):
    """A new passkey, how the person calls it, and whether no agent can use its device."""

    name = forms.CharField(label=_("Name of the passkey"), max_length=NAME_LENGTH, strip=True)
    is_apart = forms.BooleanField(required=False)
    registration = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None) -> None:
        # Its page may have other forms, with fields of the same names.
        super().__init__(data, auto_id="passkey_%s", label_suffix="")
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    @property
    def new(self) -> NewPasskey:
        return NewPasskey(**{name: self.cleaned_data[name] for name in NewPasskey.__annotations__})


class AddForm(NewPasskeyForm):
    """The same, with what one of the person's passkeys signed."""

    assertion = forms.CharField(required=False, widget=forms.HiddenInput)


class LinkForm(NewPasskeyForm):
    """The same, with what follows the "#" in a link, and the password of the person."""

    link = forms.CharField(
        label=_("Code of the link"), max_length=500, widget=forms.TextInput({"autocomplete": "off"})
    )
    # It is asked for and checked before the browser makes the passkey, and not sent with it.
    password = forms.CharField(
        label=_("Your password"),
        required=False,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    field_order = ("link", "password", "name", "is_apart", "registration")
