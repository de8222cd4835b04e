"""Query strings: long, repeated, odd and badly encoded."""

from itertools import cycle

import pytest

from tests.factories import CustomerFactory
from tests.hostile.target import assert_refused

# Its types and its driver refuse values that SQLite takes.
pytestmark = pytest.mark.postgresql

LISTS = ("/api/v1/customers", "/api/v1/documents", "/api/v1/people", "/api/v1/teams")

# By the field that a refusal names; what no field of ours is called, it calls "?". Values that are
# wrong in any spelling are in tests/interface.
REFUSED: dict[str, list[str]] = {
    "limit": [
        *("limit", "limit=+5", "limit=%2B5", "limit=5%20", "limit=5%0A", "limit=0x5"),
        *("limit=%D9%A5", "limit=true", "limit=null", "limit=NaN", "limit=" + "9" * 5_000),
        *("limit=5&limit=6", "limit=5;search=a"),
    ],
    "after": ["after=null", "after=0190f1f0-0000-7000-8000-00000000000%00", "after=x&after=y"],
    "search": [
        *("search=" + "%C3%A9" * 101, "search=%FF", "search=a%ED%A0%80", "search=%C3"),
        *("search=\xff", "search=a&search=b"),
    ],
    "?": [
        *("limit[]=5", "limit%00=5", "ivc_" + "a" * 43 + "=1", "=", "=1", "%00", "%FF=1"),
        *("<script>=1", "a" * 41, ";limit=5", "?limit=5"),
    ],
    "Limit": ["Limit=5"],
    "format": ["format=xml"],
    "_method": ["_method=DELETE"],
    "access_token": ["access_token=ivc_" + "a" * 43],
}

ACCEPTED = [
    *("", "&", "&&&", "limit=1", "limit=%35", "li%6Dit=5", "after=", "after", "search=a&limit=5&"),
    *("search=", "search=%20", "search=+", "search=%", "search=%zz", "search=%u0041", "search=%00"),
    *("search=%0A%0D", "search=a%26limit=99", "search=a=b=c", "search=%27%20OR%201=1%20--"),
    *("search=%25%5F%5C", "search=\xc3\xa9", "search=" + "e%CC%81" * 50),
    *("search=" + "x" * 100, "search=" + "%F0%9F%92%A9" * 100),
    "after=0190F1F0-0000-7000-8000-000000000000",
]


@pytest.mark.requirement("limit.page", "limit.search", "error.fields")
@pytest.mark.usefixtures("nothing_changes")
def test_an_odd_query_is_refused_with_its_fields(target, subtests):
    refused = [(field, query) for field, queries in REFUSED.items() for query in queries]
    for path, (field, query) in zip(cycle(LISTS), refused, strict=False):
        with subtests.test(query=query[:50]):
            answer = target.request("GET", path, QUERY_STRING=query)
            assert_refused(answer, 422, fields=[field])


def test_a_strange_but_clear_query_is_answered(target, subtests):
    for path in LISTS:
        for query in ACCEPTED:
            with subtests.test(path=path, query=query[:50]):
                answer = target.request("GET", path, QUERY_STRING=query)
                assert (answer.status, set(answer.body)) == (200, {"data", "next"})


@pytest.mark.parametrize("search", ["M\xc3\xbcller", "M%C3%BCller", "m%c3%bcll", "mu%CC%88ller"])
def test_a_search_is_utf_8_whether_it_is_escaped_or_not(target, search):
    """WSGI hands over raw bytes as Latin-1 text."""
    customer = CustomerFactory.create(name="Müller GmbH")
    answer = target.request("GET", "/api/v1/customers", QUERY_STRING=f"search={search}")
    assert answer.data == [{"id": str(customer.id), "name": "Müller GmbH"}]


@pytest.mark.parametrize("path", [*LISTS, "/api/v1/tools"])
def test_fifty_thousand_parameters_get_a_bounded_answer(target, path):
    query = "&".join(f"p{number}={number}" for number in range(50_000))
    answer = target.request("GET", path, QUERY_STRING=query)
    assert_refused(answer, 422)
    assert answer.error["fields"] == [f"p{number}" for number in range(20)]
    assert "there are 49980 more" in answer.error["message"]


def test_a_parameter_repeated_fifty_thousand_times_is_named_once(target):
    answer = target.request("GET", "/api/v1/people", QUERY_STRING="limit=5&" * 50_000)
    assert_refused(answer, 422, fields=["limit"])
    assert answer.error["problems"] == [{"field": "limit", "problem": "must be given once"}]


def test_a_query_of_a_megabyte_is_refused(target):
    query = "search=" + "x" * 1_000_000
    assert_refused(target.request("GET", "/api/v1/people", QUERY_STRING=query), 422, ["search"])


def test_a_tool_for_one_record_takes_no_parameters(target):
    paths = [f"/api/v1/documents/{target.draft_id}", "/api/v1/people/x", "/api/v1/tools"]
    for path in paths:
        assert_refused(target.request("GET", path, QUERY_STRING="limit=5"), 422, ["limit"])
