"""The admin of people and their sign-in: they are deactivated, but never deleted."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast

from django.contrib import admin
from django.contrib.admin import RelatedFieldListFilter
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.dates import WEEKDAYS as WEEKDAY_NAMES
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.confirming import ConfirmedRecordAdmin, NotConfirmedError, ask, confirm
from invoicing.admin.fields import format_hours
from invoicing.admin.person_forms import PersonForm
from invoicing.admin.roles import RoleAdmin
from invoicing.administration.acts import actor_of, count_connections
from invoicing.administration.passkeys import has_passkey, make_passkey_link
from invoicing.administration.people import (
    ADMIN_FLAGS,
    FIXED_FOR_OWNER,
    RIGHTS,
    SIGN_IN,
    change_person,
    create_person,
)
from invoicing.administration.sign_ins import make_code, sign_out_everywhere
from invoicing.errors import CodeInvalidError, PasskeyNotUsedError
from invoicing.models import User
from invoicing.one_time_links import HOURS, link_of
from invoicing.paper.formats import format_day
from invoicing.rights import is_owner, may_change_sign_in, may_give_every_right
from invoicing.services.working_hours import WEEKDAYS, read_hours
from invoicing.web.pages import refused_as_pages


class RoleFilter(RelatedFieldListFilter):
    """The filter by role, ordered as RoleAdmin; Django would look for an admin of groups."""

    @override
    def field_admin_ordering(self, *_: Any) -> tuple[str, ...]:
        return RoleAdmin.ordering


def _show_hours(weekday: int) -> Callable[..., str]:
    """Return a method that tells the hours of a weekday to those who may only see the person."""

    @admin.display(description=WEEKDAY_NAMES[weekday])
    def show(self: "PersonAdmin", person: User) -> str:
        return format_hours(
            (start, end) for day, start, end in read_hours(person) if day == weekday
        )

    return show


@admin.register(User)
class PersonAdmin(ConfirmedRecordAdmin):
    form = PersonForm
    change_form_template = "admin/invoices/person.html"
    list_display = ("name", "email", "job_title", "status")
    list_filter = ("is_active", "is_guest", "is_staff", ("groups", RoleFilter))
    search_fields = ("name", "email", "job_title")
    ordering = ("name", "email")
    fieldsets = (
        (None, {"fields": (("name", "job_title"), ("manager", "time_zone", "language"), "skills")}),
        (
            _("Sign-in"),
            {
                "fields": ("email", "is_active", "is_guest"),
                "description": _(
                    "A new person has no password: a one-time link, made on their page once"
                    " they are added, lets them choose one. Deactivating a person, or changing"
                    " whether they are a guest, ends their sessions and every connection that"
                    " acts as them, at once. Connections do not come back."
                ),
            },
        ),
        (
            _("Rights"),
            {
                "fields": (
                    *("is_staff", "is_superuser", "audits_until", "groups", "user_permissions"),
                ),
                "description": _(
                    "Only superusers and the owner give permissions. A person who becomes an"
                    " administrator or superuser, or is no longer one, is signed out everywhere,"
                    " and every connection that acts as them ends. So is an auditor whose last day"
                    " is brought forward or taken away."
                ),
            },
        ),
        (
            _("Working hours"),
            {"fields": (WEEKDAYS[:2], WEEKDAYS[2:4], WEEKDAYS[4:6], WEEKDAYS[6:])},
        ),
        (
            _("Private"),
            {
                "fields": (("private_email", "private_phone"), "hourly_rate"),
                "description": _("Never shown to agents or colleagues."),
            },
        ),
    )

    # By the names of the form's own fields, which Django shows only to those who may change them.
    monday, tuesday, wednesday, thursday, friday, saturday, sunday = map(_show_hours, range(7))

    @admin.display(description=_("status"))
    def status(self, person: User) -> str:
        if not person.is_active:
            return gettext("deactivated")
        if person.is_guest and person.audits_until:
            return gettext("auditor until %(day)s") % {"day": format_day(person.audits_until)}
        if person.is_guest:
            return gettext("guest")
        if person.is_superuser and person.is_staff:
            return gettext("superuser")
        return gettext("administrator") if person.is_staff else gettext("active")

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        by: Any = request.user
        locked: set[str] = set() if may_give_every_right(by) else set(RIGHTS)
        if obj is not None and not may_change_sign_in(by, obj):
            locked |= SIGN_IN
        if obj is not None and is_owner(obj):
            locked |= FIXED_FOR_OWNER
            if by.pk != obj.pk:
                locked |= ADMIN_FLAGS
        return sorted(locked)

    @override
    def find_sensitive(self, *, is_new: bool) -> frozenset[str]:
        return frozenset(RIGHTS if is_new else RIGHTS | {"email"})

    @override
    def create(self, request: HttpRequest, form: Any) -> Model:
        return create_person(actor_of(request), form.changes(), hours=form.hours())

    @override
    def change(self, request: HttpRequest, obj: Any, form: Any) -> Model:
        seen, hours = form.cleaned_data["seen"], form.hours()
        return change_person(actor_of(request), obj.pk, form.changes(), hours=hours, seen=seen)

    @override
    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> Any:
        person, by = context.get("original"), request.user
        may = person is not None and self.may(request, "change")
        context["may_change_sign_in"] = may and may_change_sign_in(by, person)  # type: ignore[arg-type]  # signed in
        return super().render_change_form(request, context, *args, **kwargs)

    @override
    def get_urls(self) -> list[URLPattern]:
        guard = self.admin_site.admin_view
        own = [
            path(
                "<agent_access_id:pk>/one-time-link",
                guard(self.one_time_link),
                name="one-time-link",
            ),
            path(
                "<agent_access_id:pk>/passkey-link", guard(self.passkey_link), name="passkey-link"
            ),
            path("<agent_access_id:pk>/sign-out", guard(self.sign_out), name="sign-person-out"),
        ]
        return [*own, *super().get_urls()]

    @refused_as_pages()
    def one_time_link(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Ask, then show the link in the answer only: it is in no message, session or log."""
        person = self._find(request, pk)
        context = self._context(request, person, title=gettext("One-time link")) | {"hours": HOURS}

        def make() -> str:
            confirm(request)
            return link_of(make_code(actor_of(request), pk))

        return _show_link(request, "one_time_link", context, make)

    @refused_as_pages()
    def passkey_link(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Ask, then show the link in the answer only, as above; nobody makes one for themselves."""
        person, by = self._find(request, pk), cast("User", request.user)
        if person.pk == by.pk:
            raise PermissionDenied
        context, confirms = (
            self._context(request, person, title=gettext("Passkey link")),
            has_passkey(by),
        )
        context |= {"hours": HOURS, "has_passkey": has_passkey(person), "confirms": confirms}

        def make() -> str:
            if not confirms:  # a passkey confirms exactly this link, as it is made
                confirm(request)
            return make_passkey_link(request, person, request.POST.get("assertion", ""))

        return _show_link(request, "passkey_link", context, make)

    @refused_as_pages()
    def sign_out(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Ask, naming how many connections will end, then sign the person out everywhere."""
        person = self._find(request, pk)
        if request.method != "POST":
            context = self._context(request, person, title=gettext("Sign out everywhere"))
            context["connections"] = count_connections(person)
            return render(request, "admin/invoices/sign_out.html", context)
        ended = sign_out_everywhere(actor_of(request), pk)
        told = gettext("%(person)s is signed out everywhere. Connections ended: %(number)s.")
        self.message_user(request, told % {"person": person, "number": ended})
        return redirect("admin:invoices_user_change", pk)

    def _find(self, request: HttpRequest, pk: Any) -> User:
        by: Any = request.user
        person = User.objects.filter(pk=pk).first()
        if person is None:
            raise Http404
        if not self.may(request, "change") or not may_change_sign_in(by, person):
            raise PermissionDenied
        return person

    def _context(self, request: HttpRequest, person: User, *, title: str) -> dict[str, Any]:
        shared = self.admin_site.each_context(request)
        return {**shared, "opts": self.opts, "person": person, "title": title}


def _show_link(
    request: HttpRequest, name: str, context: dict[str, Any], make: Callable[[], str]
) -> HttpResponse:
    """Show the page that asks, and after its form the link that `make` returns, once confirmed."""
    status, refused = HTTPStatus.OK, None
    if request.method == "POST":
        try:
            context["link"] = make()
        except NotConfirmedError as refusal:
            refused = refusal
        except PasskeyNotUsedError:
            context["is_unconfirmed"], status = True, HTTPStatus.UNPROCESSABLE_ENTITY
        except CodeInvalidError:
            context["person"].is_active, status = False, HTTPStatus.CONFLICT
    context["confirmation"] = ask(request)
    page = render(request, f"admin/invoices/{name}.html", context, status=status)
    return refused.mark(page) if refused else page
