"""The home page: what waits for a person, what they wrote, what was issued, what agents did."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from agent_access import approvers
from agent_access.approvals.descriptions import describe_cards, describe_told
from agent_access.approvals.inbox import find_told, find_waiting, read_cards
from agent_access.templatetags.texts import isolate
from invoicing.access import Permission
from invoicing.languages import page_language
from invoicing.models import Document, DocumentStatus, User
from invoicing.paper.formats import Formats, format_day, time_zone_of
from invoicing.rights import is_owner
from invoicing.web.auditors import for_auditors
from invoicing.web.home.day import describe_day
from invoicing.web.home.issued import describe_issued
from invoicing.web.home.owner import describe_for_owner
from invoicing.web.pages import SignedInRequest, page
from invoicing.web.setup.steps import describe_for_home

CARDS_SHOWN = 4
DRAFTS_SHOWN = 5
# So many drafts are counted, among so many of the person's newest: of the others they may see none.
MOST_COUNTED = 99
DRAFTS_LOOKED_AT = 1000
NOON, EVENING = 12, 18


@for_auditors
@page()
def show_home(request: SignedInRequest) -> HttpResponse:
    """Show a person their day; an auditor, who has none here, starts with the evidence."""
    if request.user.is_auditor:
        return redirect("evidence")
    user, now = request.user, timezone.now()
    local = now.astimezone(time_zone_of(user))
    sees_documents = user.has_perm(Permission.VIEW_DOCUMENT)
    context = {
        "greeting": _greet(user, local),
        "today": format_day(local.date()),
        "waits": _describe_waiting(user, now=now),
        "drafts": _describe_drafts(user) if sees_documents else None,
        "issued": describe_issued(user, local.date()) if sees_documents else None,
        "day": describe_day(user, local),
        "owner": describe_for_owner(user, local) if approvers.may_administer(user) else None,
        "may_write": sees_documents and user.has_perm(Permission.MANAGE),
        "sees_nothing": not (user.is_staff or is_owner(user) or user.get_all_permissions()),
        "setup": describe_for_home(user),
    }
    return render(request, "invoicing/home.html", context)


def _greet(user: User, local: datetime) -> SafeString:
    if local.hour < NOON:
        greeting = gettext("Good morning, {name}")
    elif local.hour < EVENING:
        greeting = gettext("Good afternoon, {name}")
    else:
        greeting = gettext("Good evening, {name}")
    return format_html(greeting, name=isolate(user.name))


def _describe_waiting(user: User, *, now: datetime) -> dict[str, Any]:
    """Describe the first that will expire, as the inbox does, and how many wait in all."""
    told = describe_told(find_told(user, now=now), now=now)[:CARDS_SHOWN]
    cards, _ = read_cards(user, after=None, now=now)
    shown = describe_cards(cards[: CARDS_SHOWN - len(told)], user)
    open_ones = [each for each in (*told, *shown) if each["seconds_left"]]
    found = find_waiting(user)
    return {
        "told": told,
        "cards": shown,
        "count": found.shown,
        "is_more": found.count > len(told) + len(shown),
        "next": min(open_ones, key=lambda each: each["seconds_left"], default=None),
    }


def _describe_drafts(user: User) -> dict[str, Any]:
    """Describe the newest drafts of a person, by their own hand or by agents in their name."""
    own = Document.objects.filter(created_by=user, status=DocumentStatus.DRAFT)
    newest = own.order_by("-id").values("pk")[:DRAFTS_LOOKED_AT]
    visible = Document.objects.visible_to(user).filter(pk__in=newest)
    found = list(visible.select_related("customer").order_by("-id")[: MOST_COUNTED + 1])
    count = min(len(found), MOST_COUNTED)
    return {
        "rows": [_describe_draft(each) for each in found[:DRAFTS_SHOWN]],
        "count": f"{count}+" if len(found) > count else str(count),
        "by_agents": sum(each.connection_id is not None for each in found[:count]),
        "is_more": len(found) > DRAFTS_SHOWN,
    }


def _describe_draft(draft: Document) -> dict[str, Any]:
    formats = Formats(page_language(), draft.currency_code, draft.minor_unit)
    return {"document": draft, "grand_total": formats.money(draft.grand_total)}
