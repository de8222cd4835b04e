"""What a signature costs an execution: the call over HTTP, on one database, in turns."""

from collections.abc import Iterator
from http import HTTPStatus
from statistics import median
from time import process_time

from agent_access.connections import ConnectionRequest, create_connection
from agent_access.switches import turn_access
from agent_access.tools import registry
from benchmarks.machine import describe_machine
from invoicing.access import Permission
from tests.agents import HttpAgent
from tests.browsers import Browser
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    line_input,
    make_draft,
)
from tests.interface.issuing import prepare
from tests.passkeys import SoftPasskey
from tests.signing import Asked, demand

ROUNDS = 60
WARM_UP = 5
MOST = 1.10


def measure() -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    CompanyFactory.create()
    person = UserFactory.create(permissions=tuple(Permission))
    turn_access(on=True)
    request = ConnectionRequest(user=person, scopes=registry.scopes, days=1, name="Benchmark")
    agent = HttpAgent(create_connection(request)[1])
    desk = Browser()
    desk.force_login(person)
    soft = SoftPasskey()
    soft.keep_for(person)
    customer = CustomerFactory.create()
    rate = TaxRateFactory.create()
    spent: dict[bool, list[float]] = {False: [], True: []}
    for number in range(WARM_UP + ROUNDS):
        for is_signed, found in spent.items():
            demand(always=is_signed)
            lines = tuple(line_input(tax_rate_id=rate.pk) for _ in range(10))
            draft = make_draft(user=person, customer=customer, lines=lines)
            key = f"{number}-{is_signed}"
            asked = Asked(agent, desk, prepare(agent, draft.pk, key=f"p-{key}").data)
            decided = asked.sign(soft) if is_signed else asked.approve()
            assert decided.status_code == HTTPStatus.FOUND, decided.content  # noqa: S101  else it measures nothing
            found.append(spend(asked, f"e-{key}"))
    yield ", ".join(describe_machine().values())
    yield ""
    plain, signed = (median(found[WARM_UP:]) * 1000 for found in spent.values())
    met = "yes" if signed <= plain * MOST else "**no**"
    yield "| execute | CPU in ms | of that without | goal | met |"
    yield "|---|---|---|---|---|"
    yield f"| without a signature | {plain:.2f} | | | |"
    yield f"| with one | {signed:.2f} | {signed / plain:.3f} | {MOST:.2f} | {met} |"


def spend(asked: Asked, key: str) -> float:
    """Return the seconds of processor time of one execution."""
    before = process_time()
    answer = asked.execute(key)
    seconds = process_time() - before
    assert answer.status == HTTPStatus.OK, answer.content  # noqa: S101  as above
    return seconds
