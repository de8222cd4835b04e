"""The MCP endpoint, whose views are imported when it is first called.

MCP's types are hundreds of pydantic models, which take a third of the time of a start to build; no
command of manage.py needs them.
"""

from importlib import import_module

from django.http import HttpRequest, HttpResponse

from agent_access.errors import ToolError
from agent_access.gate import agents_view

# Below the place where the project includes the routes.
ENDPOINT_PATH = "/mcp"


def load_views() -> None:
    """Import the views; a request that comes meanwhile waits for the import."""
    import_module("mcp_gateway.views")


def refuse(error: ToolError) -> HttpResponse:
    """Return the gate's refusal in the form of this endpoint."""
    from mcp_gateway import answers  # noqa: PLC0415  loaded when it is first called

    return answers.refuse(error)


@agents_view
def serve(request: HttpRequest) -> HttpResponse:
    from mcp_gateway import views  # noqa: PLC0415  as above

    return views.serve(request)


@agents_view
def refuse_path(request: HttpRequest) -> HttpResponse:
    """Answer 404 at every path below the endpoint, a trailing slash included."""
    from mcp_gateway import views  # noqa: PLC0415  as above

    return views.refuse_path(request)
