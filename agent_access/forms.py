"""What the owner decides of every connection: who is acted for, what is lent, how long."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from typing_extensions import override

from agent_access import conf
from agent_access.connections import MAX_DAYS, MIN_DAYS
from agent_access.visible_text import mark_invisible


class DelegateField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic for mypy only
    """A choice among people; two of one name are told apart."""

    @override
    def label_from_instance(self, obj: Any) -> str:
        return mark_invisible(f"{obj} ({obj.get_username()})")


class LendingForm(forms.Form):
    """Nobody is chosen beforehand."""

    acts_as = DelegateField(
        queryset=None,
        label="Acts as",
        empty_label="Choose a person",
        error_messages={"required": "Choose the person whom the client acts for."},
    )
    scopes = forms.MultipleChoiceField(
        label="May",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )
    expires_in_days = forms.IntegerField(
        label="Expires in days",
        min_value=MIN_DAYS,
        max_value=MAX_DAYS,
        initial=MAX_DAYS,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"),
            f"Choose {MIN_DAYS} to {MAX_DAYS} days.",
        ),
    )

    def __init__(self, data: QueryDict | None = None, *, asked: Sequence[str]) -> None:
        super().__init__(data, label_suffix="")
        terms = conf.host().scopes()
        delegates: QuerySet[Any] = conf.host().delegates()
        self.fields["acts_as"].queryset = delegates  # type: ignore[attr-defined]  # a DelegateField
        self.fields["scopes"].choices = [(scope, terms[scope].description) for scope in asked]  # type: ignore[attr-defined]  # a MultipleChoiceField
        self.initial["scopes"] = [scope for scope in asked if terms[scope].is_ticked_beforehand]
