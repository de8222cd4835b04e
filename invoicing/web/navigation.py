"""The navigation at the head of every page: the sections that this person may see."""

from typing import Any, NamedTuple, cast

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agent_access.admin_site import may_administer
from agent_access.approvals.inbox import Waiting, find_waiting
from invoicing.access import EXPORT_PERMISSIONS, Permission
from invoicing.models import User
from invoicing.rights import may_read_evidence
from invoicing.web.pages import SignedInRequest


class Section(NamedTuple):
    """A part of the application, for those who have all its permissions."""

    label: str | Promise
    route: str
    permissions: tuple[Permission, ...] = ()


EVIDENCE = Section(_("Evidence"), "evidence", (Permission.AUDIT,))
HOME = Section(_("Home"), "home")
APPROVALS = Section(_("Approvals"), "agent_approvals:inbox")
SECTIONS = (
    HOME,
    Section(_("Invoices"), "documents", (Permission.VIEW_DOCUMENT,)),
    APPROVALS,
    Section(_("Activity"), "activity"),
    Section(_("Customers"), "customers", (Permission.VIEW_CUSTOMER,)),
    Section(_("People"), "people", (Permission.VIEW_PERSON,)),
    Section(_("Exports"), "exports", EXPORT_PERMISSIONS),
    EVIDENCE,
)


def sections_of(request: SignedInRequest) -> list[Section]:
    """Return the sections that the person may see; the first is their start page."""
    if request.user.is_auditor:
        return [EVIDENCE] if may_read_evidence(request.user) else []
    return [section for section in SECTIONS if _may_see(request, section)]


def _may_see(request: SignedInRequest, section: Section) -> bool:
    if request.user.has_perms(section.permissions):
        return section is not EVIDENCE or may_read_evidence(request.user)
    return section is EVIDENCE and may_administer(request)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: return the links, none for somebody who is not signed in.

    Of an auditor nothing is ever asked, so their pages do not ask what waits for them.
    """
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"navigation": []}
    links = []
    for section in sections_of(cast("SignedInRequest", request)):
        waiting = find_waiting(user) if section is APPROVALS else None
        links.append(_link(request, section.label, section.route, waiting))
    if admin.site.has_permission(request):
        links.append(_link(request, _("Administration"), "admin:index"))
    return {"navigation": links, "asks_what_waits": not user.is_auditor}


def _link(
    request: HttpRequest, label: str | Promise, route: str, waiting: Waiting | None = None
) -> dict[str, Any]:
    """Return an entry; `waiting` is None where nothing ever waits for anybody."""
    href = reverse(route)
    is_home = route == HOME.route  # of whose address all others are a part
    is_current = request.path == href if is_home else request.path.startswith(href)
    return {"label": label, "href": href, "is_current": is_current, "waiting": waiting}
