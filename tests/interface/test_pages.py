"""Lists come in pages: each record once, in order of ID, and nothing about how many there are."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid1, uuid4

import pytest

from invoicing.identifiers import new_id
from invoicing.models import Customer, Document, Team, User
from invoicing.services.customers import create_customers
from tests.factories import CustomerFactory, TeamFactory, UserFactory, make_draft, make_staff
from tests.interface.calls import walk
from tests.interface.refusals import invalid, seen
from tests.tool_table import LISTS

pytestmark = pytest.mark.usefixtures("many_calls")

RECORDS = 120


def make_customers(count: int) -> None:
    create_customers(CustomerFactory.build_batch(count))


def make_documents(count: int) -> None:
    user, customer = make_staff(), CustomerFactory.create()
    for _ in range(count):
        make_draft(user=user, customer=customer)


def make_people(count: int) -> None:
    User.objects.bulk_create(UserFactory.build_batch(count))


def make_teams(count: int) -> None:
    Team.objects.bulk_create(TeamFactory.build_batch(count))


MAKERS: dict[str, tuple[type[Any], Callable[[int], None]]] = {
    "customers.search": (Customer, make_customers),
    "documents.list": (Document, make_documents),
    "people.list": (User, make_people),
    "teams.list": (Team, make_teams),
}


def make_records(tool: str, count: int) -> list[str]:
    """Make records until there are so many; return the IDs of all of them, in order."""
    model, make = MAKERS[tool]
    make(count - model.objects.count())
    return [str(pk) for pk in model.objects.order_by("id").values_list("id", flat=True)]


@pytest.fixture(params=LISTS)
def tool(request: Any) -> str:
    name: str = request.param
    return name


@pytest.mark.requirement("list.shape", "list.cursor", "list.last_page", "list.order", "limit.page")
def test_a_walk_gives_every_record_once_in_order_of_id(agent, tool):
    ids = make_records(tool, RECORDS)
    assert len(ids) == RECORDS
    by_default = walk(agent, tool)
    assert by_default == [ids[:25], ids[25:50], ids[50:75], ids[75:100], ids[100:]]
    assert walk(agent, tool, limit=50) == [ids[:50], ids[50:100], ids[100:]]


def test_a_page_that_ends_with_the_last_record_says_so(agent, tool):
    ids = make_records(tool, 6)
    assert walk(agent, tool, limit=3) == [ids[:3], ids[3:]]
    assert walk(agent, tool, limit=6) == [ids]
    assert walk(agent, tool, limit=1) == [[each] for each in ids]


def test_a_limit_outside_its_range_is_named_and_never_clamped(agent, tool):
    for problem, limits in {
        "must be at least 1": ["0", "-1"],
        "must be at most 50": ["51", "9" * 18],
        "must be an integer": ["1.5", "1e1", "x", "", " 1", "+1", "01", "1_0", "9" * 30, "\u0661"],
    }.items():
        for limit in limits:
            answer = agent.call(tool, {"limit": limit})
            assert seen(answer) == invalid(("limit", problem)), limit


@pytest.mark.http
def test_a_limit_in_a_query_may_be_written_as_2_0(agent, tool):
    """To JSON Schema, which the OpenAPI document uses, 2.0 is an integer."""
    ids = make_records(tool, 3)
    assert [each["id"] for each in agent.call(tool, {"limit": "2.0"}).body["data"]] == ids[:2]


def test_a_parameter_given_twice_is_named(agent):
    for name, value in {"limit": "5", "search": "a", "after": str(new_id())}.items():
        answer = agent.request("GET", "/api/v1/teams", query=f"{name}={value}&{name}={value}")
        assert seen(answer) == invalid((name, "must be given once"))


def test_a_malformed_cursor_is_named(agent, tool):
    for after in ("x", " ", "1", "0" * 36, new_id().hex, f"urn:uuid:{new_id()}", f"{{{new_id()}}}"):
        answer = agent.call(tool, {"after": after})
        assert seen(answer) == invalid(("after", "must be the ID of a record")), after


def test_a_cursor_that_no_page_can_have_given_is_named(agent, tool):
    """An empty page would be taken for the end of the list."""
    for after in (str(uuid4()), str(UUID(int=0)), str(UUID(int=2**128 - 1)), str(uuid1())):
        answer = agent.call(tool, {"after": after})
        expected = invalid(("after", "must be the value of next from an earlier page"))
        assert seen(answer) == expected, after


def test_a_cursor_in_capitals_is_the_same_cursor(agent, tool):
    ids = make_records(tool, 6)
    rest = agent.call(tool, {"after": ids[2].upper()}).body
    assert [record["id"] for record in rest["data"]] == ids[3:]


def test_an_empty_cursor_begins_with_the_first_page(agent, tool):
    make_records(tool, 6)
    plain = agent.call(tool, {"limit": 2})
    assert agent.call(tool, {"limit": 2, "after": "", "search": ""}).content == plain.content


def test_every_wrong_parameter_is_named_at_once(agent, tool):
    arguments = {"search": "a" * 101, "limit": "0", "after": "x", "page": "2", "order": "name"}
    assert seen(agent.call(tool, arguments)) == invalid(
        ("search", "must have at most 100 characters"),
        ("limit", "must be at least 1"),
        ("after", "must be the ID of a record"),
        ("page", "is not a field of this tool"),
        ("order", "is not a field of this tool"),
    )


@pytest.mark.parametrize("tool", ["customers.search", "teams.list"])
def test_a_walk_goes_on_when_the_record_of_its_cursor_is_gone(agent, tool):
    ids = make_records(tool, 6)
    first = agent.call(tool, {"limit": 3}).body
    assert first["next"] == ids[2]

    MAKERS[tool][0].objects.filter(pk=ids[2]).delete()

    rest = agent.call(tool, {"limit": 3, "after": first["next"]}).body
    assert ([record["id"] for record in rest["data"]], rest["next"]) == (ids[3:], None)


def test_a_cursor_behind_the_last_record_gives_an_empty_last_page(agent, tool):
    make_records(tool, 6)
    last = "ffffffff-ffff-7fff-bfff-ffffffffffff"
    assert agent.call(tool, {"after": last}).body == {"data": [], "next": None}


def test_a_cursor_never_names_a_record_that_the_user_cannot_see(connect, stranger):
    managed, in_scope = [], []
    for _ in range(5):
        make_draft(customer=CustomerFactory.create())
        managed.append(CustomerFactory.create(account_managers=[stranger]))
        inactive = CustomerFactory.create(account_managers=[stranger])
        in_scope += [make_draft(customer=managed[-1]), make_draft(customer=inactive)]
        Customer.objects.filter(pk=inactive.pk).update(is_active=False)
    customers = [str(customer.id) for customer in managed]
    documents = [str(document.id) for document in in_scope]
    _, agent = connect(stranger)

    assert walk(agent, "customers.search", limit=2) == [
        customers[:2],
        customers[2:4],
        customers[4:],
    ]
    assert walk(agent, "documents.list", limit=4) == [documents[:4], documents[4:8], documents[8:]]


@pytest.mark.requirement("list.no_count")
def test_no_total_count_is_disclosed(agent, tool):
    make_records(tool, 7)
    answer = agent.call(tool, {"limit": 2})
    assert list(answer.body) == ["data", "next"]
    assert not {"X-Total-Count", "Link", "Content-Range"} & set(answer.headers)
