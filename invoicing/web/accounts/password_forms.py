"""The forms in which people choose passwords."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import password_validators_help_text_html
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.models import User

DIFFERENT = _("The two passwords differ.")
_rules = lazy(password_validators_help_text_html, str)

CODE_LENGTH = 100
PASSWORD_LENGTH = 1024


def password_field(label: Any, *, is_new: bool = True, help_text: Any = "") -> forms.CharField:
    """Return a field whose texts are translated where it is shown."""
    kind = "new-password" if is_new else "current-password"
    return forms.CharField(
        label=label,
        max_length=PASSWORD_LENGTH,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": kind}),
        help_text=help_text,
    )


def check_own_password(user: User, password: str) -> str:
    """Return the password if it is the person's own; raises ValidationError."""
    if not user.check_password(password):
        raise forms.ValidationError(_("This is not your password."))
    return password


class NewPasswordForm(forms.Form):
    """A new password, typed twice; the validators run when it is written."""

    password = password_field(_("New password"), help_text=_rules())
    again = password_field(_("Repeat the password"))

    @override
    def clean(self) -> None:
        data = self.cleaned_data
        if {"password", "again"} <= data.keys() and data["password"] != data["again"]:
            self.add_error("again", DIFFERENT)


class CodeForm(NewPasswordForm):
    """A script takes the code out of the link; without scripts a person types it."""

    code = forms.CharField(
        label=_("One-time code"),
        max_length=CODE_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("code", "password", "again")


class OwnPasswordForm(NewPasswordForm):
    """Asks for the current password, which a passer-by at an open browser does not know."""

    current = password_field(_("Current password"), is_new=False)
    field_order = ("current", "password", "again")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_current(self) -> str:
        return check_own_password(self.user, self.cleaned_data["current"])
