"""What stands at the head of every page: the rooms that this person may enter."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from invoicing.access import Permission
from invoicing.models import User
from invoicing.services.approval_inbox import count_waiting


def _nothing_waits(user: User) -> int:
    return 0


@dataclass(frozen=True)
class Room:
    """A part of the application; without a permission it is open to everybody signed in."""

    label: str
    route: str
    permission: Permission | None = None
    count_waiting: Callable[[User], int] = _nothing_waits


@dataclass(frozen=True)
class Link:
    """An entry of the navigation; the count is of things that wait for this person."""

    label: str
    href: str
    is_current: bool
    count: int


ROOMS = (
    Room("Documents", "documents", Permission.VIEW_DOCUMENT),
    Room("Approvals", "approvals", count_waiting=count_waiting),
    Room("Customers", "customers", Permission.VIEW_CUSTOMER),
    Room("People", "people", Permission.VIEW_PERSON),
)


def rooms_of(user: User) -> list[Room]:
    """Return the rooms that the person may enter, the first of them to begin with."""
    return [room for room in ROOMS if room.permission is None or user.has_perm(room.permission)]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Give templates the links; a signed-out person gets none."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"navigation": []}
    links = [_link(request, room) for room in rooms_of(user)]
    if admin.site.has_permission(request):
        links.append(_admin_link(request))
    return {"navigation": links}


def _link(request: HttpRequest, room: Room) -> Link:
    href = reverse(room.route)
    waiting = room.count_waiting(request.user)  # type: ignore[arg-type]  # a person, as above
    return Link(room.label, href, request.path.startswith(href), waiting)


def _admin_link(request: HttpRequest) -> Link:
    href = reverse("admin:index")
    return Link("Administration", href, request.path.startswith(href), 0)
