"""What the owner decides on the consent page."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from typing_extensions import override

from agent_access import conf
from agent_access.connections import MAX_DAYS, MIN_DAYS
from agent_access.tools import registry


class DelegateField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic for mypy only
    """A choice among people; two of one name are told apart."""

    @override
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj} ({obj.get_username()})"


class ConsentForm(forms.Form):
    """Nobody is chosen beforehand, and no scope that lets a program do what cannot be undone."""

    acts_as = DelegateField(
        queryset=None,
        label="Acts as",
        empty_label="Choose a person",
        error_messages={"required": "Choose the person whom the client acts for."},
    )
    scopes = forms.MultipleChoiceField(
        label="May",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one, or refuse."},
    )
    expires_in_days = forms.IntegerField(
        label="Expires in days", min_value=MIN_DAYS, max_value=MAX_DAYS, initial=MAX_DAYS
    )

    def __init__(self, *args: Any, asked: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        texts = conf.host().scopes()
        delegates: QuerySet[Any] = conf.host().delegates()
        self.fields["acts_as"].queryset = delegates  # type: ignore[attr-defined]  # a DelegateField
        self.fields["scopes"].choices = [(scope, texts[scope]) for scope in asked]  # type: ignore[attr-defined]  # a MultipleChoiceField
        self.initial["scopes"] = [
            scope for scope in asked if scope not in registry.destructive_scopes
        ]
