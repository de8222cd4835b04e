"""The MCP endpoint, whose views are imported when it is first called.

MCP's types are hundreds of pydantic models, which take a third of the time of a start to build; no
command of manage.py needs them.
"""

from importlib import import_module

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from agent_access.errors import ToolError


def load_views() -> None:
    """Import the views; a request that comes meanwhile waits for the import."""
    import_module("mcp_gateway.views")


@csrf_exempt
@login_not_required
def serve(request: HttpRequest) -> HttpResponse:
    from mcp_gateway import views  # noqa: PLC0415  loaded when it is first called

    return views.serve(request)


@csrf_exempt
@login_not_required
def refuse_path(request: HttpRequest) -> HttpResponse:
    """Answer 404 at every path below the endpoint, a trailing slash included."""
    from mcp_gateway import views  # noqa: PLC0415  as above

    return views.refuse_path(request)


def refuse(error: ToolError) -> HttpResponse:
    """Return the gate's refusal in the form of this endpoint."""
    from mcp_gateway import answers  # noqa: PLC0415  as above

    return answers.refuse(error)
