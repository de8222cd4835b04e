"""The navigation at the head of every page: the sections that this person may see."""

from typing import Any, NamedTuple

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from agent_access.approvals.inbox import Waiting, find_waiting
from invoicing.access import EXPORT_PERMISSIONS, Permission
from invoicing.models import User


class Section(NamedTuple):
    """A part of the application, for those who have all its permissions."""

    label: str
    route: str
    permissions: tuple[Permission, ...] = ()


HOME = Section("Home", "home")
APPROVALS = Section("Approvals", "agent_approvals:inbox")
SECTIONS = (
    HOME,
    Section("Documents", "documents", (Permission.VIEW_DOCUMENT,)),
    APPROVALS,
    Section("Customers", "customers", (Permission.VIEW_CUSTOMER,)),
    Section("People", "people", (Permission.VIEW_PERSON,)),
    Section("Exports", "exports", EXPORT_PERMISSIONS),
)


def sections_of(user: User) -> list[Section]:
    """Return the sections that the person may see; the first is their home page."""
    return [section for section in SECTIONS if user.has_perms(section.permissions)]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: return the links, none for somebody who is not signed in."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"navigation": []}
    links = []
    for section in sections_of(user):
        waiting = find_waiting(user) if section is APPROVALS else None
        links.append(_link(request, section.label, section.route, waiting))
    if admin.site.has_permission(request):
        links.append(_link(request, "Administration", "admin:index"))
    return {"navigation": links}


def _link(
    request: HttpRequest, label: str, route: str, waiting: Waiting | None = None
) -> dict[str, Any]:
    """Return an entry; `waiting` is None where nothing ever waits for anybody."""
    href = reverse(route)
    is_home = route == HOME.route  # of whose address all others are a part
    is_current = request.path == href if is_home else request.path.startswith(href)
    return {"label": label, "href": href, "is_current": is_current, "waiting": waiting}
