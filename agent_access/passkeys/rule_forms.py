"""The form with which the owner says what has to be signed."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from typing_extensions import override

from agent_access import conf
from agent_access.connections import live_connections
from agent_access.passkeys.models import SigningRules
from agent_access.visible_text import mark_invisible

# "EUR 1000", "h 7.5" or "h 7,5", in a line.
LIMIT = re.compile(r"([^\W_][\w-]{0,19})\s+(\d{1,15}(?:[.,]\d{1,6})?)")
# "1.000" is a thousand to some people, and one to others.
AMBIGUOUS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
MOST_LIMITS = 50
MOST_PARTIES = 1000
NAME_LENGTH = 300


class RulesForm(forms.Form):
    """What has to be signed; `viewer` may know the names of the parties."""

    always = forms.BooleanField(
        required=False, label=gettext_lazy("Everything that people approve, or do by hand")
    )
    connections = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Everything that these connections do"),
    )
    parties = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Everything for these parties"),
    )
    new_party = forms.CharField(
        required=False,
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"size": 40}),
        label=gettext_lazy("Add a party by name"),
        help_text=gettext_lazy("Exactly as the name is written. All who are called so are added."),
    )
    limits = forms.CharField(
        required=False,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=gettext_lazy("Whatever is worth more than"),
        help_text=gettext_lazy(
            "One limit in a line, such as EUR 1000 or USD 1200.50. What one person approves or does"
            " for the same party within 24 hours counts together. Once there is a limit, everything"
            " in a unit without one is signed."
        ),
    )
    apart = forms.BooleanField(
        required=False,
        label=gettext_lazy("Only with a device that no agent can use"),
        help_text=gettext_lazy(
            "Such as the person's phone: they sign in there with its own passkey, of which they"
            " said when they added it that no agent can use that device."
        ),
    )

    def __init__(self, data: QueryDict | None = None, *, rules: SigningRules, viewer: Any) -> None:
        super().__init__(data, label_suffix="")
        self.viewer = viewer
        self.initial = {
            "always": rules.always,
            "connections": rules.connections,
            "parties": rules.parties,
            "limits": write_limits(rules.limits),
            "apart": rules.apart,
        }
        live = live_connections().select_related("user").order_by("-id")
        self.fields["connections"].choices = [  # type: ignore[attr-defined]  # a MultipleChoiceField
            (str(each.pk), f"{each.name} ({each.user})") for each in live
        ]
        self.fields["parties"].choices = _name_parties(rules.parties, viewer)  # type: ignore[attr-defined]  # as above

    def clean_limits(self) -> dict[str, str]:
        """Return the limits by unit, as decimal texts."""
        lines = [line.strip() for line in self.cleaned_data["limits"].splitlines() if line.strip()]
        found = [LIMIT.fullmatch(line) for line in lines]
        wrong = next((line for line, each in zip(lines, found, strict=True) if not each), None)
        if wrong is not None:
            text = _("This is no unit with a number: %(line)s")
            raise forms.ValidationError(text, params={"line": mark_invisible(wrong[:40])})
        numbers = {each[1]: each[2] for each in found if each}
        if unclear := next(filter(AMBIGUOUS.fullmatch, numbers.values()), None):
            text = _("This can be read in two ways: %(number)s. Write thousands without a sign.")
            raise forms.ValidationError(text, params={"number": unclear})
        limits = {each: f"{Decimal(typed.replace(',', '.')):f}" for each, typed in numbers.items()}
        if len(limits) != len(lines) or len(limits) > MOST_LIMITS:
            raise forms.ValidationError(_("Write each unit once, and at most 50."))
        return limits

    def clean_new_party(self) -> list[str]:
        """Return the IDs of those who are called so."""
        name = self.cleaned_data["new_party"].strip()
        found = conf.policy().find_parties(name, self.viewer) if name else ()
        if name and not found:
            raise forms.ValidationError(_("Nobody whom you may see is called exactly so."))
        return [str(each) for each in found]

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if len(cleaned.get("parties", ())) > MOST_PARTIES:
            self.add_error("parties", _("These are too many."))
        return cleaned

    def read_rules(self) -> SigningRules:
        """Return what a valid form chooses, unsaved."""
        chosen = self.cleaned_data
        return SigningRules(
            always=chosen["always"],
            connections=chosen["connections"],
            parties=sorted({*chosen["parties"], *chosen["new_party"]}),
            limits=chosen["limits"],
            apart=chosen["apart"],
        )


def write_limits(limits: Mapping[str, str]) -> str:
    """Return a line for each limit, as the form reads it: "1.125" of something is "1.1250"."""
    lines = (
        f"{name} {limit}0" if AMBIGUOUS.fullmatch(limit) else f"{name} {limit}"
        for name, limit in sorted(limits.items())
    )
    return "\n".join(lines)


def _name_parties(parties: list[str], viewer: Any) -> list[tuple[str, str]]:
    """Return each party with its name, or with its ID where the viewer may not know it."""
    names = conf.policy().record_labels([UUID(each) for each in parties], viewer)
    named = [(each, str(names.get(UUID(each), each))) for each in parties]
    return sorted(named, key=lambda each: each[1])
