"""What it costs another project to let agents in: `python -m benchmarks.host_views [CALLS]`.

One view, in one process on PostgreSQL: for an agent, for a token of Django OAuth Toolkit, as a tool
made by `tools_from`, and beside it the same tool by hand. The ways take turns in random order.
"""

import io
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import django

from tests.postgresql import find_binaries, run_cluster

CALLS = 300
UNMEASURED = 30
SETTINGS = "benchmarks.host.settings"
HOST = "tickets.example"
TICKET = {"title": "A ticket", "body": "It does not work", "priority": 2, "due": "2026-12-01"}

keys = count()


class Way(NamedTuple):
    """A request that is measured: in which column of which row, and what is sent."""

    act: str
    name: str
    method: str
    path: str
    token: str
    body: Any = None


class Taken(NamedTuple):
    seconds: float
    cpu: float


# What is compared: the first costs at most so many times the second.
COMPARED = (
    ("agent at the view", "toolkit at the view", 1.15),
    ("tools_from", "tool by hand", 1.7),
)


def prepare() -> Iterator[Way]:
    """Make the tables, a ticket, a connection and a token; yield the ways to measure."""
    from django.contrib.auth.models import Permission, User  # noqa: PLC0415  models need the settings
    from django.core.management import call_command  # noqa: PLC0415  as above
    from django.utils import timezone  # noqa: PLC0415  as above
    from oauth2_provider.models import AccessToken, Application  # noqa: PLC0415  as above

    from agent_access.testing import AgentClient  # noqa: PLC0415  as above
    from benchmarks.host.models import Ticket  # noqa: PLC0415  as above

    call_command("migrate", run_syncdb=True, verbosity=0)
    User.objects.create_superuser("olga")
    nora = User.objects.create_user("nora")
    nora.user_permissions.set(Permission.objects.filter(content_type__app_label="host"))
    client = Application.objects.create(
        client_type="public", authorization_grant_type="authorization-code"
    )
    toolkit = "a" * 40
    AccessToken.objects.create(
        user=nora,
        application=client,
        token=toolkit,
        scope="tickets:read tickets:write",
        expires=timezone.now() + timedelta(days=1),
    )
    agent = AgentClient(nora).credential
    pk = Ticket.objects.create(owner=nora, title="A ticket").pk
    yield Way("read", "agent at the view", "GET", f"/agents/{pk}/", agent)
    yield Way("read", "toolkit at the view", "GET", f"/toolkit/{pk}/", toolkit)
    yield Way("read", "tools_from", "GET", f"/api/v1/tickets/{pk}", agent)
    yield Way("read", "tool by hand", "GET", f"/api/v1/hand/{pk}", agent)
    yield Way("create", "agent at the view", "POST", "/agents/", agent, TICKET)
    yield Way("create", "toolkit at the view", "POST", "/toolkit/", toolkit, TICKET)
    yield Way("create", "tools_from", "POST", "/api/v1/tickets", agent, TICKET)
    yield Way("create", "tool by hand", "POST", "/api/v1/hand", agent, TICKET)


def call(application: Callable[..., Any], way: Way) -> Taken:
    """Send the request, as a server would; raise RuntimeError unless it succeeds."""
    sent = b"" if way.body is None else json.dumps(way.body).encode()
    environ = {
        "REQUEST_METHOD": way.method,
        "PATH_INFO": way.path,
        "SERVER_NAME": HOST,
        "SERVER_PORT": "443",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": HOST,
        "HTTP_AUTHORIZATION": f"Bearer {way.token}",
        "HTTP_IDEMPOTENCY_KEY": f"key-{next(keys)}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(sent)),
        "wsgi.url_scheme": "https",
        "wsgi.input": io.BytesIO(sent),
        "wsgi.errors": sys.stderr,
    }
    statuses: list[str] = []
    begun, cpu = perf_counter(), process_time()
    response = application(environ, lambda status, _: statuses.append(status))
    body = b"".join(response)
    response.close()
    taken = Taken(perf_counter() - begun, process_time() - cpu)
    if not statuses[0].startswith("2"):
        raise RuntimeError(f"{way.name}, {way.act}: {statuses[0]} {body.decode()}")
    return taken


def measure(calls: int) -> None:
    """Measure every way and print a table in milliseconds, then the ratios."""
    from agent_access.gate import GateApplication  # noqa: PLC0415  Django must be set up

    ways = [*prepare()]
    application = GateApplication()
    measured: dict[tuple[str, str], list[Taken]] = {(way.act, way.name): [] for way in ways}
    for number in range(UNMEASURED + calls):
        for way in random.sample(ways, len(ways)):
            taken = call(application, way)
            if number >= UNMEASURED:
                measured[way.act, way.name].append(taken)
    medians = {
        which: Taken(*(median(each) * 1000 for each in zip(*taken, strict=True)))
        for which, taken in measured.items()
    }
    say("| Act | Way | ms | CPU ms |", "|---|---|---|---|")
    for (act, name), taken in medians.items():
        say(f"| {act} | {name} | {taken.seconds:.2f} | {taken.cpu:.2f} |")
    say("", "| Act | Ratio | at most | by time | by CPU |", "|---|---|---|---|---|")
    for act in ("read", "create"):
        for upper, lower, most in COMPARED:
            one, other = medians[act, upper], medians[act, lower]
            ratios = f"{one.seconds / other.seconds:.2f} | {one.cpu / other.cpu:.2f}"
            say(f"| {act} | {upper} / {lower} | {most} | {ratios} |")


def say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        with run_cluster(find_binaries(), Path(name, "pg"), fsync=True) as cluster:
            os.environ["POSTGRESQL_FOLDER"] = str(cluster.folder)
            os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
            django.setup()
            measure(calls)


if __name__ == "__main__":
    main()
