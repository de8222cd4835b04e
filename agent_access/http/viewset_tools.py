"""Tools that are actions of a project's own viewset."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ImproperlyConfigured

from agent_access.errors import ToolError
from agent_access.fields import ToolInput
from agent_access.http.actions import Action
from agent_access.http.checks import UnsupportedActionError, report
from agent_access.http.serializer_inputs import UnsupportedFieldError, make_input
from agent_access.tools import API_PATH, NoInput, Tool

__all__ = ["Terms", "tools_from"]

PERMISSIONS: Mapping[str, str] = {"GET": "view", "DELETE": "delete"}
# The attributes of REST framework's paginations that name the parameter of the next page.
PAGE_PARAMETERS = ("page_query_param", "offset_query_param", "cursor_query_param")

# The modules of the classes whose dispatch does nothing that is missing from a tool.
DISPATCHING = {
    "agent_access.http.agent_calls",
    "django.views.generic.base",
    "rest_framework.views",
}

# By viewset, not counting those that derive from it, and by action.
_tools: dict[type, dict[str, Tool]] = {}


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On which terms a viewset's action is a tool; what is not said follows from the action.

    `name` is its tool's, such as `tickets.close`. `permissions` are those that Django's model
    permissions demand, unless they are named here. `input` replaces what is made of the action's
    serializer; of an action that reads it declares the query parameters, and NoInput says that
    an action takes no body. An action that does more than add is destructive.
    """

    scope: str
    description: str
    name: str = ""
    title: str = ""
    permissions: Sequence[str] | None = None
    input: type[ToolInput] | None = None
    is_destructive: bool | None = None
    refusals: Sequence[type[ToolError]] = ()


def tools_from(viewset: type[Any], *, basename: str, module: str | None = None) -> list[Tool]:
    """Return a tool for each action that the viewset's `agent_terms` name.

    `basename` is that of their names and paths, as with a router: `tickets` gives `tickets.list` at
    `/tickets`. What cannot be a tool is left out, and a system check says why.
    """
    if viewset in _tools:
        raise ImproperlyConfigured(f"The tools of {viewset.__name__} are made twice")
    tools = _tools[viewset] = {}
    for name, terms in viewset.agent_terms.items():
        action = Action(viewset, name, basename)
        try:
            tools[name] = _make_tool(action, terms, module=module or basename)
        except UnsupportedActionError as reason:
            report(reason, viewset=viewset, action=name)
    return [*tools.values()]


def tools_of(viewset: type[Any]) -> Mapping[str, Tool]:
    """Return the tools that were made of this very viewset, by action."""
    return _tools.get(viewset, {})


def find_tool(view: Any) -> Tool | None:
    """Return the tool that the current action of a viewset is."""
    return tools_of(type(view)).get(getattr(view, "action", None) or "")


def _make_tool(action: Action, terms: Terms, *, module: str) -> Tool:
    """Return the tool; raise UnsupportedActionError."""
    _check_dispatch(action.viewset)
    method, standard, id_type = action.method, action.standard, action.key_type
    if action.name == "list":
        _check_pages(action.viewset, terms.input or NoInput)
    verb = standard.verb if standard else action.name
    permission = standard.permission if standard else PERMISSIONS.get(method, "change")
    options = action.model._meta
    name = terms.name or f"{action.basename.replace('-', '_')}.{verb}"
    noun = options.verbose_name_plural if action.name == "list" else options.verbose_name
    permissions = [f"{options.app_label}.{permission}_{options.model_name}"]
    is_destructive = method != "GET" and action.name != "create"
    return Tool(
        name=name,
        title=terms.title or f"{verb.replace('_', ' ').capitalize()} {noun}",
        description=terms.description,
        method=method,
        path=action.path,
        module=module,
        scope=terms.scope,
        permissions=permissions if terms.permissions is None else terms.permissions,
        input=terms.input or _make_input(action, name),
        run=action.run,
        writes=method != "GET",
        id_type=id_type,
        find_record=action.find_record,
        check_user=action.check_user,
        status=standard.status if standard else HTTPStatus.OK,
        is_destructive=is_destructive if terms.is_destructive is None else terms.is_destructive,
        refusals=terms.refusals,
        needs_snapshot=False,  # in a transaction that only reads, a view that logs would fail
    )


def _make_input(action: Action, tool_name: str) -> type[ToolInput]:
    if action.method in {"GET", "DELETE"}:
        return NoInput
    try:
        serializer = _find_serializer(action)
        class_name = "".join(part.title() for part in re.split(r"[._]", tool_name)) + "Input"
        return make_input(serializer, name=class_name, partial=action.method == "PATCH")
    except UnsupportedFieldError as wrong:
        number, reason = ("E021", "a file") if wrong.is_file else ("E022", wrong.kind)
        text = f"takes {reason} as {wrong.path}, for which there is no schema"
        hint = "Make the field read-only, or say what the action takes by the input of its Terms."
        raise UnsupportedActionError(number, text, hint) from None


def _find_serializer(action: Action) -> Any:
    """Return the serializer of what an action takes; another action's is not taken for its own."""
    view = action.open(AnonymousUser(), root=API_PATH)
    view.swagger_fake_view = True  # the mark by which views know that nobody called
    is_own = "serializer_class" in getattr(action.handler, "kwargs", ())
    is_own |= view.get_serializer_class() != action.viewset.serializer_class
    if action.standard or is_own:
        return view.get_serializer()
    hint = "Give its @action a serializer_class, or its Terms an input; NoInput takes no body."
    raise UnsupportedActionError("E020", "does not say what it takes", hint)


def _check_dispatch(viewset: type[Any]) -> None:
    """Refuse a view that a decorator or mixin of Django's guards, which no tool would run."""
    dispatching = [each for each in viewset.__mro__ if "dispatch" in vars(each)]
    if any(each.__module__ not in DISPATCHING for each in dispatching):
        text = "has a view with a dispatch of its own, which tools do not run"
        hint = "Let its permission_classes or its initial do the same: they run for agents, too."
        raise UnsupportedActionError("E026", text, hint)


def _check_pages(viewset: type[Any], query: type[ToolInput]) -> None:
    """Refuse a list of which agents would get the first page only."""
    pages = viewset.pagination_class
    names = [name for each in PAGE_PARAMETERS if (name := getattr(pages, each, None))]
    has_pages = getattr(pages, "page_size", None) or getattr(pages, "default_limit", None)
    if has_pages and not query.model_fields.keys() & set(names):
        text = f"answers pages, and its Terms declare no {' or '.join(names)}"
        hint = "Declare it in a ToolInput, and that as the input of the Terms."
        raise UnsupportedActionError("E024", text, hint)
