"""The form of every page, spoilt: nothing fails, and what is refused changes nothing."""

import re
from collections.abc import Iterator
from copy import copy
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib import admin
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from agent_access.models import AccessSettings
from invoicing.access import Permission
from invoicing.models import Company, Role, Skill, User
from invoicing.services.drafts import ConnectionRef
from tests.admin.forms import snapshot_of_books
from tests.approvals import prepare
from tests.browsers import Browser, SignIn
from tests.factories import TeamFactory, UserFactory, grant, make_draft, make_issued
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import BOUNDARY_TEXTS, FORM, ODD_TEXTS
from tests.oauth.programs import RETURN_ADDRESS, make_program
from tests.web.forms import read_form

# Pages, each with the fields of its form as it shows them.
Forms = dict[str, dict[str, str]]

# What pages of ours or of Django's look for beside the fields of their own form.
STRAY = ("_popup", "_to_field", "_saveasnew", "action", "select_across", "_selected_action", "next")
STRAY_TOO = ("save", "calculate", "add_line", "remove_line", "decision", "state", "is_superuser")
OPEN_TO_ALL = ("/account", "/account/preferences", "/set-password")
WAYS = st.sampled_from(["odd", "out", "twice"])
TEXTS = st.sampled_from(BOUNDARY_TEXTS) | ODD_TEXTS


def walk(patterns: Any, prefix: str = "/") -> Iterator[str]:
    for each in patterns:
        path = prefix + str(each.pattern).lstrip("^")
        if isinstance(each, URLResolver):
            yield from walk(each.url_patterns, path)
        else:
            yield path


@pytest.fixture
def owner(company: Company) -> User:
    """The owner, who may also do what the others do at their pages."""
    grant(company.owner, *Permission)
    return company.owner


@pytest.fixture
def forms(sign_in: SignIn, owner, sign_in_on, connection, customer, tax_rate) -> Forms:
    """Every page that shows a form which is sent to the page itself, and the one of an approval."""
    make_issued(customer=customer)
    draft = make_draft(user=owner, customer=customer)
    maker = ConnectionRef(connection.id, "Ledger agent")
    approval = prepare(draft, user=owner, connection=maker, now=timezone.now()).approval
    TeamFactory.create(members=[owner])
    Role.objects.create(name="Viewer")
    Skill.objects.create(name="Typing")
    asking = make_program(RETURN_ADDRESS).authorize_path()
    ids: dict[str, Any] = {"/documents/": draft.pk, "/approvals/": approval.pk}
    for model in admin.site._registry:
        first = getattr(model._default_manager.first(), "pk", "")
        record = "access" if model is AccessSettings else first
        ids[f"/admin/{model._meta.app_label}/{model._meta.model_name}/"] = record
    paths = {asking}
    for path in walk(get_resolver().url_patterns):
        record = next((ids[start] for start in ids if path.startswith(start)), "")
        paths.add(re.sub(r"<[^>]*>", quote(str(record)), path))
    desk = sign_in(owner)
    found = {path: desk.get(path) for path in sorted(paths) if path.startswith("/")}
    pages = {path: each for path, each in found.items() if is_page(each)}
    shown = {path: read_form(each) for path, each in pages.items()}
    shown[f"/approvals/{approval.pk}"] = {"decision": "approve", "fingerprint": "", "reason": ""}
    return {path: fields for path, fields in shown.items() if fields}


@st.composite
def spoilt_forms(draw: st.DrawFn, forms: Forms) -> tuple[str, list[tuple[str, str]]]:
    """Return a page, and its form with fields doubled, left out, made up, or oddly filled in."""
    path = draw(st.sampled_from(sorted(forms)))
    fields = list(forms[path].items())
    names = st.sampled_from([*forms[path], *STRAY, *STRAY_TOO])
    for name, way in draw(st.lists(st.tuples(names, WAYS))):
        fields = fields if way == "twice" else [each for each in fields if each[0] != name]
        fields += [] if way == "out" else [(name, draw(TEXTS))]
    return path, fields


def send(desk: Client, path: str, fields: list[tuple[str, str]]) -> Any:
    """Send the fields as a browser that is signed in, and stays so."""
    tally["forms"] += 1
    cache.clear()  # no test of this folder is about the limits
    browser = Browser()
    browser.cookies = copy(desk.cookies)
    body = urlencode(fields, encoding="utf-8", errors="surrogatepass")
    return browser.post(path, body, content_type=FORM)


def is_page(answer: Any) -> bool:
    """Return whether it is a page, and no file such as a PDF."""
    return answer.status_code == 200 and str(answer["Content-Type"]).startswith("text/html")


def is_refused(answer: Any) -> bool:
    return answer.status_code >= 400 or b"errorlist" in answer.content


def test_no_form_fails_and_a_refused_one_changes_nothing(forms, sign_in, owner):
    desk, outside = sign_in(owner), sign_in(UserFactory.create())
    before = snapshot_of_books()

    @try_hard(60, long=600)
    @given(spoilt_forms(forms), st.booleans())
    def fuzz(sent: tuple[str, list[tuple[str, str]]], is_owner: bool) -> None:  # noqa: FBT001  drawn
        with transaction.atomic():
            answer = send(desk if is_owner else outside, *sent)
            assert answer.status_code < 500
            if not is_owner and sent[0] not in OPEN_TO_ALL:
                assert answer.status_code in {403, 404}
            assert not is_refused(answer) or snapshot_of_books() == before
            transaction.set_rollback(True)

    assert len(forms) > 20
    fuzz()
