"""Invoicing as a host of agent access: its policy."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import tzinfo
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.audit import Actor
from agent_access.confirming import NotConfirmedError
from agent_access.errors import ToolError
from agent_access.fields import JSONSchema
from agent_access.models.connections import RevokedReason
from agent_access.passkeys.link_views import NotTriedError
from agent_access.policy import Policy, ScopeTerms, Service, ShellLines, Work
from agent_access.tools import Tool
from invoicing.administration.one_time_codes import may_make_code
from invoicing.administration.sign_ins import end_sign_ins
from invoicing.agent_tools.failures import answer_failure
from invoicing.agent_tools.missing import find_missing
from invoicing.agent_tools.record_names import find_customers, find_ids, find_names
from invoicing.agent_tools.schemas import schema_filler
from invoicing.agent_tools.service import SERVICE
from invoicing.agent_tools.work import address_of_work, find_work
from invoicing.models import Company, User
from invoicing.paper.formats import time_zone_of
from invoicing.passkey_rule import required_from
from invoicing.quickstart.authority import find_authority
from invoicing.quickstart.first_steps import FirstSteps
from invoicing.web.passkeys import try_password

SECONDS_PER_MINUTE = 60

SCOPES = {
    "customers:read": ScopeTerms(
        _("Search customers and see their names."),
        example=_("“Do we have a customer called Altmühl Brauerei?”"),
    ),
    "invoices:read": ScopeTerms(
        _(
            "Read invoices and drafts, with their lines, totals and public notes, and calculate"
            " previews."
        ),
        example=_("“What did we invoice to Altmühl Brauerei in March?”"),
    ),
    "invoices:prepare": ScopeTerms(
        _("Create and change draft invoices. A draft has no number and is sent to nobody."),
        example=_("“Write a draft for ten hours of consulting at 125.00 EUR.”"),
    ),
    "invoices:execute": ScopeTerms(
        _(
            "Ask for invoices to be issued, and issue them. The person approves each one in this"
            " application first; an issued invoice cannot be changed."
        ),
        is_ticked_beforehand=False,
        example=_("“Ask me to approve this draft, and issue it once I have.”"),
    ),
    "people:read": ScopeTerms(
        _(
            "Read colleagues' names, work e-mail addresses, job titles, skills, teams, managers,"
            " time zones and working hours."
        ),
        example=_("“Who in the team of Dana knows SAP?”"),
    ),
}


class InvoicingPolicy(Policy):
    """One person decides about agents: the owner of the company."""

    @override
    def may_administer(self, user: User) -> bool:
        return Company.objects.filter(owner_id=user.pk).exists()

    @override
    def may_approve(self, user: User) -> bool:
        return self.may_administer(user)

    @override
    def default_approver(self) -> User | None:
        company = Company.objects.select_related("owner").first()
        return company.owner if company else None

    @override
    def sole_approver_sql(self) -> str:
        return f"SELECT owner_id FROM {Company._meta.db_table} ORDER BY id LIMIT 1"  # noqa: S608  names only

    @override
    def delegate_problem(self, user: User) -> RevokedReason | None:
        if not user.is_active:
            return RevokedReason.USER_DEACTIVATED
        return RevokedReason.USER_BECAME_GUEST if user.is_guest else None

    @override
    def delegates(self, approver: User) -> QuerySet[User]:
        return User.objects.listed().order_by("name", "email")

    @override
    def scopes(self) -> Mapping[str, ScopeTerms]:
        return SCOPES

    @override
    def session_revisions(self, user: User) -> Sequence[int]:
        return (user.session_revision,)

    @override
    def confirms_by_password(self, user: User) -> bool:
        return True

    @override
    def check_password(self, request: HttpRequest, password: str) -> bool:
        """Count it as an attempt to sign in, so that a borrowed session guesses no faster."""
        user: Any = request.user
        try:
            return try_password(request, user, password)
        except NotTriedError as refusal:
            minutes = refusal.values.get("minutes")
            raise NotConfirmedError(
                refusal.told(),
                status=HTTPStatus.TOO_MANY_REQUESTS if minutes else HTTPStatus.SERVICE_UNAVAILABLE,
                seconds=(minutes or 1) * SECONDS_PER_MINUTE,
            ) from None

    @override
    def may_help(self, maker: User, person: User) -> bool:
        return may_make_code(maker, person)

    @override
    def end_sessions(self, user: User, actor: Actor) -> None:
        end_sign_ins(user, actor=actor)

    @override
    def needs_passkey(self, user: User) -> bool:
        return required_from() is not None

    @override
    def time_zone(self, user: User) -> tzinfo:
        return time_zone_of(user)

    @override
    def language(self, user: User) -> str:
        return user.spoken

    @override
    def service(self) -> Service:
        return SERVICE

    @override
    def in_demo_mode(self) -> bool:
        return bool(settings.DEMO_MODE)

    @override
    def answer_failure(self, failure: Exception) -> ToolError | None:
        return answer_failure(failure)

    @override
    def missing_for_agents(self) -> Sequence[str]:
        return find_missing()

    @override
    def records_made_by(self, connection_id: UUID, viewer: User) -> Sequence[Work]:
        return find_work(connection_id, viewer)

    @override
    def records_url(self, connection_id: UUID, viewer: User) -> str:
        return address_of_work(connection_id, viewer)

    @override
    def activity_url(self, connection_id: UUID, viewer: User) -> str:
        return f"{reverse('activity')}?connection={connection_id}"

    @override
    def record_labels(self, record_ids: Collection[UUID], viewer: User) -> Mapping[UUID, str]:
        return find_names(record_ids, viewer)

    @override
    def find_ids_by_label(self, name: str) -> Collection[UUID]:
        return find_ids(name)

    @override
    def find_parties(self, name: str, viewer: User) -> Collection[UUID]:
        return find_customers(name, viewer)

    @override
    def schema_filler(self) -> Callable[[Tool, JSONSchema], JSONSchema]:
        return schema_filler()

    @override
    def first_steps(self, *, credential: str, grants: Collection[str]) -> Sequence[ShellLines]:
        steps = FirstSteps(
            base_url=settings.BASE_URL,
            credential=credential,
            grants=grants,
            authority=find_authority(settings.VAR_DIR, base_url=settings.BASE_URL),
        )
        opening = steps.write_secrets()
        return (
            ShellLines("Try it over HTTP", opening + steps.write()),
            ShellLines("Let an MCP client use it", opening + steps.write_for_mcp()),
        )
