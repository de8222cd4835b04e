"""The navigation at the head of every page: the sections that this person may see."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from invoicing.access import Permission
from invoicing.approval_inbox import Waiting, find_waiting
from invoicing.models import User


@dataclass(frozen=True)
class Section:
    """A part of the application; without a permission, everybody who is signed in may see it.

    `find_waiting` tells what waits there for a person.
    """

    label: str
    route: str
    permission: Permission | None = None
    find_waiting: Callable[[User], Waiting] | None = None


@dataclass(frozen=True)
class Link:
    """An entry of the navigation; `waiting` is None where nothing ever waits for anybody."""

    label: str
    href: str
    is_current: bool
    waiting: Waiting | None = None


SECTIONS = (
    Section("Documents", "documents", Permission.VIEW_DOCUMENT),
    Section("Approvals", "approvals", find_waiting=find_waiting),
    Section("Customers", "customers", Permission.VIEW_CUSTOMER),
    Section("People", "people", Permission.VIEW_PERSON),
)


def sections_of(user: User) -> list[Section]:
    """Return the sections that the person may see; the first is their start page."""
    return [
        section
        for section in SECTIONS
        if section.permission is None or user.has_perm(section.permission)
    ]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: return the links, none for somebody who is not signed in."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"navigation": []}
    links = [_link(request, section) for section in sections_of(user)]
    if admin.site.has_permission(request):
        links.append(_admin_link(request))
    return {"navigation": links}


def _link(request: HttpRequest, section: Section) -> Link:
    href = reverse(section.route)
    find = section.find_waiting
    waiting = find(request.user) if find else None  # type: ignore[arg-type]  # a person, as above
    return Link(section.label, href, request.path.startswith(href), waiting)


def _admin_link(request: HttpRequest) -> Link:
    href = reverse("admin:index")
    return Link("Administration", href, request.path.startswith(href))
