"""The admin of teams and of skills."""

from typing import Any

from django import forms
from django.contrib import admin
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.admin.moments import format_minute
from invoicing.admin.fields import PeopleField
from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.models import Skill, Team


class TeamForm(RecordForm):
    is_archived = forms.BooleanField(
        label=_("Archived"),
        required=False,
        help_text=_("An archived team is kept, but shown only in the administration."),
    )
    leads = PeopleField(label=_("Leads"))
    members = PeopleField(label=_("Members"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["is_archived"] = self.instance.archived_at is not None

    @override
    def changes(self) -> dict[str, Any]:
        is_archived = self.cleaned_data["is_archived"]
        archived_at = (self.instance.archived_at or timezone.now()) if is_archived else None
        return {**super().changes(), "archived_at": archived_at}


@admin.register(Team)
class TeamAdmin(RecordAdmin):
    form = TeamForm
    fields = ("name", "description", "leads", "members", "is_archived")
    list_display = ("name", "description", "archived")
    search_fields = ("name", "description")
    ordering = ("name",)

    @admin.display(description=_("Archived"), boolean=True)
    def is_archived(self, team: Team) -> bool:
        """Tell it to those who may only see the team, to whom no field of the form is shown."""
        return team.archived_at is not None

    @admin.display(description=_("archived at"), ordering="archived_at")
    def archived(self, team: Team) -> str:
        return format_minute(team.archived_at)


@admin.register(Skill)
class SkillAdmin(RecordAdmin):
    fields = ("name",)
    search_fields = ("name",)
    ordering = ("name",)
