"""The addresses of pages, spoilt: odd queries, cookies and header fields fail nowhere."""

import re
from copy import copy
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib import admin
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import get_resolver
from hypothesis import given
from hypothesis import strategies as st

from agent_access.models import AccessSettings
from invoicing.access import Permission
from invoicing.models import Team, User
from tests.browsers import Browser, SignIn
from tests.factories import TeamFactory, grant, make_draft, make_issued
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import BOUNDARY_TEXTS, ODD_TEXTS
from tests.fuzzing.test_forms import walk
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

# What pages, Django's administration and libraries look for in a query.
NAMES = (
    *(
        "search",
        "q",
        "after",
        "before",
        "page",
        "p",
        "o",
        "all",
        "e",
        "show",
        "tab",
        "order",
        "sort",
    ),
    *("limit", "status", "customer", "day", "from", "to", "until", "year", "next", "connection"),
    *(
        "person",
        "kind",
        "format",
        "period",
        "_popup",
        "_to_field",
        "_changelist_filters",
        "_facets",
    ),
    *("is_active__exact", "id__in", "name__regex", "user__password__startswith", "date__year"),
    *(
        "copy",
        "since",
        "client",
        "only",
        "name",
        "writer",
        "team",
        "find_customer",
        "renews",
        "type",
    ),
    *("issued_from", "issued_until", "series", "outcome", "view", "missed_before", "created_by"),
    *("customer__in", "currency", "amount", "min", "max", "changed", "issued", "due", "lang"),
)
VALUES = (
    st.sampled_from(BOUNDARY_TEXTS)
    | ODD_TEXTS
    | st.sampled_from(
        (
            *(
                "2026-03",
                "2026-03-02",
                "0001-01-01",
                "10000-01-01",
                "2026-W10",
                "-1",
                "1e9",
                "٣",
                "1.2.3",
            ),
            *(
                "a=b",
                "//evil.example",
                "https://evil.example/",
                "javascript:alert(1)",
                "\\\\evil",
                "((((",
            ),
            *("%", "_", "'", "\\", '"', "*", "a" * 2000, "0x", "True", "None", "[]", "%F0%9F", "é́"),
        )
    )
)
HEADERS = {
    "accept-language": (
        "",
        "*",
        "de;q=9",
        "xx-" + "y" * 600,
        "en;q=0.1,de;q=x",
        "\xff",
        "de" * 9000,
    ),
    "user-agent": ("", "\xff", "a" * 9000, "<script>"),
    "referer": ("", "https://evil.example/", "\xff", "a" * 9000),
    "if-none-match": ("*", '"a"', "W/", "\xff"),
    "if-modified-since": ("yesterday", "Thu, 99 Foo 2026 00:00:00 GMT", "0"),
    "range": ("bytes=0-", "bytes=-1", "bytes=9-1", "bytes=" + "0-0," * 999, "x"),
    "x-forwarded-for": ("127.0.0.1", "a, b", "\xff", "::1"),
    "x-forwarded-host": ("evil.example",),
    "x-forwarded-proto": ("http", "https, http"),
    "x-requested-with": ("XMLHttpRequest",),
    "accept": ("application/json", "", "text/html;q=x", "\xff"),
    "content-type": ("multipart/form-data", "text/plain; charset=x", "application/json"),
}
COOKIES = (
    *('"\\000aaaaaaaaaaa"', '"\\777"', "a" * 9000, "", "x" * 32, '"', "\xff", "a=b; c", "é", "a\\"),
)


@pytest.fixture
def paths(sign_in: SignIn, owner: User, customer: Any, connection: Any) -> list[str]:
    """Every address of a page, of records that are there."""
    grant(owner, *Permission)
    draft = make_draft(user=owner, customer=customer)
    make_issued(customer=customer)
    team: Team = TeamFactory.create(members=[owner])
    ids: dict[str, Any] = {"/documents/": draft.pk, "/customers/": customer.pk}
    ids |= {"/people/": owner.pk, "/teams/": team.pk}
    for model in admin.site._registry:
        first = getattr(model._default_manager.first(), "pk", "")
        record = "access" if model is AccessSettings else first
        ids[f"/admin/{model._meta.app_label}/{model._meta.model_name}/"] = record
    found = set()
    for path in walk(get_resolver().url_patterns):
        record = next((ids[start] for start in ids if path.startswith(start)), "")
        found.add(re.sub(r"<[^>]*>", quote(str(record)), path))
    pages = (path for path in found if path.startswith("/") and not path.startswith("/api"))
    return sorted(pages)


def open_page(desk: Client, path: str, query: str, headers: dict[str, str]) -> Any:
    tally["pages"] += 1
    cache.clear()  # no test of this folder is about the limits
    browser = Browser()
    browser.cookies = copy(desk.cookies)  # signed in, and stays so
    answer = browser.get(path, headers=headers, QUERY_STRING=query)
    if answer.streaming:
        b"".join(answer)
    return answer


def spell(pairs: list[tuple[str, str]]) -> str:
    return urlencode(pairs, encoding="utf-8", errors="surrogatepass")


def leads_away(answer: Any) -> bool:
    """Return whether the answer sends the browser to another site."""
    return not re.match(
        r"(/(?![/\\])|\?|#|$|https://invoices\.example/)", answer.get("Location", "")
    )


def test_no_page_fails_whatever_its_query_says(paths, sign_in, owner):
    desk = sign_in(owner)
    before = take_snapshot("invoices", "agent_access", "agent_approvals")

    @try_hard(30, long=300)
    @given(st.sampled_from(paths), st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=4))
    def fuzz(path: str, pairs: list[tuple[str, str]]) -> None:
        with transaction.atomic():
            answer = open_page(desk, path, spell(pairs), {})
            assert answer.status_code < 500
            assert not leads_away(answer)
            transaction.set_rollback(True)

    fuzz()
    assert len(paths) > 60
    assert take_snapshot("invoices", "agent_access", "agent_approvals") == before


def test_no_page_fails_whatever_a_browser_says_of_itself(paths, sign_in, owner, settings):
    desk = sign_in(owner)
    session = desk.cookies[settings.SESSION_COOKIE_NAME].value
    names = (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, "messages", "x", "")
    said = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in HEADERS.items()}
    )

    @try_hard(30, long=300)
    @given(st.sampled_from(paths), said, st.sampled_from(names), st.sampled_from(COOKIES))
    def fuzz(path: str, headers: dict[str, str], name: str, value: str) -> None:
        cookie = f"{settings.SESSION_COOKIE_NAME}={session}; {name}={value}"
        with transaction.atomic():
            answer = open_page(Browser(), path, "", {**headers, "cookie": cookie})
            assert answer.status_code < 500
            assert not leads_away(answer)
            transaction.set_rollback(True)

    fuzz()
