"""The way to the MCP endpoint: what answers there is loaded when it is first called.

MCP's types are hundreds of pydantic's models, which take a third of a start to build; no command of
manage.py needs them.
"""

from importlib import import_module

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from agent_access.errors import NotFoundError, ToolError


def load_views() -> None:
    """Load what answers; a caller who comes meanwhile waits for the rest."""
    import_module("mcp_gateway.views")


@csrf_exempt
@login_not_required
def serve(request: HttpRequest) -> HttpResponse:
    from mcp_gateway import views  # noqa: PLC0415  loaded when it is first called

    return views.serve(request)


@csrf_exempt
@login_not_required
def refuse_path(request: HttpRequest) -> HttpResponse:
    """Answer every path below the endpoint, a trailing slash included: there is nothing."""
    return refuse(NotFoundError())


def refuse(error: ToolError) -> HttpResponse:
    """Return the gate's refusal as this endpoint tells it."""
    from mcp_gateway import answers  # noqa: PLC0415  as above

    return answers.refuse(error)
