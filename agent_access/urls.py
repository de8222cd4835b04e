"""One route per path of the registered tools, and one for every other path below them.

A project includes them where it likes: `path("agents/", include("agent_access.urls"))`.
"""

from collections.abc import Callable, Mapping

from django.http import HttpResponse
from django.urls import URLPattern, path, re_path

from agent_access.gate import agents_view
from agent_access.http.views import ToolView
from agent_access.listing import TOOLS_LIST
from agent_access.tools import API_PATH, Tool, registry

app_name = "agent_access"

ROOT = API_PATH.removeprefix("/")


def _tools_by_path() -> dict[str, dict[str, Tool]]:
    paths: dict[str, dict[str, Tool]] = {}
    for tool in (TOOLS_LIST, *registry):
        paths.setdefault(tool.path, {})[tool.method] = tool
    return paths


def _route(tool_path: str) -> str:
    return ROOT + tool_path.replace("{id}", "<str:target>")


def _view(tools: Mapping[str, Tool]) -> Callable[..., HttpResponse]:
    view: Callable[..., HttpResponse] = agents_view(ToolView.as_view(tools=tools))
    return view


urlpatterns: list[URLPattern] = [
    *(
        path(_route(tool_path), _view(tools))
        # Literal paths first, so that /notes/search is not taken for an ID.
        for tool_path, tools in sorted(_tools_by_path().items(), key=lambda each: "{id}" in each[0])
    ),
    path(ROOT, _view({}), name="root"),
    re_path(rf"^{ROOT}/[\s\S]*\Z", _view({})),  # line feeds included
]
