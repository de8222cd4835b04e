"""Django's admin site, open to the owner as well, behind the project's own sign-in page."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access import approvers, conf
from agent_access.connections import live_connections
from agent_access.models.settings import AccessSettings
from agent_access.translations import Text
from agent_access.web_sessions import has_session

View = TypeVar("View", bound=Callable[..., Any])

ANSWERS = "agent_access_answers"
FRONT_PAGE = "admin:agent_access_accesssettings_changelist"
# Apps whose models are shown as one section, under the name of the first.
OWNERS_APPS = ("agent_access", "agent_oauth", "agent_passkeys")
# Passwords are changed on the project's own page, and records have no page to "view on site".
# Nothing here autocompletes, which would search a whole table at every keystroke.
LEFT_OUT = frozenset({"autocomplete", "password_change", "password_change_done", "view_on_site"})


# What the site's own pages are for. Those of a model are in `purposes` of its ModelAdmin, by the
# names of their routes.
PURPOSES = {
    "index": _("Where everything is set up: agents and their access first, then the records."),
    "app_list": _("All that is set up in this part, each with its own list."),
}


def may_administer(request: HttpRequest) -> bool:
    """Return whether somebody is signed in who may administer agents, as the policy says.

    An act asks again (`owners_act`), of the user as stored then. A project's middleware may know a
    person by a token too: a program holds that, and must not decide what programs may do.
    """
    return _ask_once(request, approvers.may_administer)


def may_approve(request: HttpRequest) -> bool:
    """Return whether somebody is signed in who may approve connections, as the policy says."""
    return _ask_once(request, approvers.may_approve)


def _ask_once(request: HttpRequest, question: Callable[[Any], bool]) -> bool:
    """Return the answer about the request's user, kept for the rest of the request."""
    answers: dict[Any, bool] = request.__dict__.setdefault(ANSWERS, {})
    if question not in answers:
        answers[question] = has_session(request) and question(request.user)
    return answers[question]


class OwnersAdminSite(AdminSite):
    """The site for staff and the owner, if active and not guests; Django's login form is unused."""

    site_title = _("Administration")
    site_header = _("Administration")
    index_title = _("Administration")
    enable_nav_sidebar = False

    @override
    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Say on each page in a line what it is for."""
        match = request.resolver_match
        purpose = self.find_purpose(match.url_name or "") if match else ""
        return {**super().each_context(request), "purpose": purpose}

    def find_purpose(self, route: str) -> Text:
        """Return what the page of a route is for, by the route's name; empty if nobody says."""
        told: dict[str, Text] = {**PURPOSES}
        for model_admin in self._registry.values():
            told |= getattr(model_admin, "purposes", {})
        return told.get(route, "")

    @override
    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        if not user.is_authenticated or conf.policy().delegate_problem(user):
            return False
        return user.is_staff or may_administer(request) or may_approve(request)

    @override
    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Answer 403 to a signed-in person who may not enter, since signing in again is no help."""
        inner = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            answer: HttpResponse = inner(request, *args, **kwargs)
            return answer

        return cast("View", update_wrapper(guarded, view))

    @override
    def get_urls(self) -> list[URLPattern | URLResolver]:
        return [url for url in super().get_urls() if getattr(url, "name", None) not in LEFT_OUT]

    @override
    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the owner's apps first, merged into one section whose models have a `position`."""
        apps = super().get_app_list(request, app_label)
        section = [app for app in apps if app["app_label"] in OWNERS_APPS]
        others = [app for app in apps if app not in section]
        if not section:
            return others
        models = [model for app in section for model in app["models"]]
        models.sort(key=lambda model: getattr(self._registry[model["model"]], "position", 0))
        return [{**section[0], "models": models}, *others]

    @override
    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show the owner the state of agent access, and a button that stops all agents."""
        has_owner = may_administer(request) or conf.policy().default_approver() is not None
        context = {"has_owner": has_owner, **(extra_context or {})}
        if may_administer(request):
            context["access_on"] = AccessSettings.read().access_on
            context["live"] = live_connections().count()
        return super().index(request, context)

    @override
    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show the section's own front page in place of a list of its models."""
        if app_label in OWNERS_APPS and may_administer(request):
            return redirect(FRONT_PAGE)  # type: ignore[return-value]  # Django declares that it returns a page
        return super().app_index(request, app_label, extra_context)

    @method_decorator(login_not_required)
    @override
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        index = reverse("admin:index", current_app=self.name)
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME, index))

    @override
    def logout(  # type: ignore[override]  # Django's own returns a redirect too
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        view = LogoutView.as_view(next_page=resolve_url(settings.LOGIN_URL))
        answer: HttpResponse = view(request)
        return answer
