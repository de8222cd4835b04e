"""A field of a draft goes all the way, from whoever writes it to the person who approves it."""

import re
from typing import Any

import pytest

from agent_access.facts import fingerprint_facts
from invoicing.models import Document
from invoicing.services.drafts import update_draft
from invoicing.web.changes import find_changes
from invoicing.web.drafts.forms import HeaderForm, LineForm
from tests import draft_fields
from tests.approvals import prepare
from tests.draft_fields import HEADER, LINE
from tests.factories import draft_input, line_input, make_draft
from tests.web.forms import read_form
from tests.web.reviews import path_of, read

HEADER_TEXTS: dict[str, Any] = {name: f"A {name}" for name in draft_fields.HEADER_TEXTS}
LINE_TEXTS: dict[str, Any] = {name: f"The {name}" for name in draft_fields.LINE_TEXTS}
TEXTS = [*HEADER_TEXTS, *(f"line_items.0.{name}" for name in LINE_TEXTS)]
# As a person would type them, some could be thousands as well.
QUANTITIES = ("1.234", "999.999", "0.123", "1000.125", "1.5", "1.2345", "1500", "99999999.999")


def test_an_agent_and_a_person_write_the_same_fields():
    assert set(HEADER) == {*HeaderForm.base_fields, "line_items"}
    assert set(LINE) == set(LineForm.base_fields)


def test_what_an_agent_wrote_is_read_again_and_kept_by_a_person_who_changes_nothing(
    agent, desk, draft_body
):
    [line] = draft_body["line_items"]
    body = draft_body | HEADER_TEXTS | {"line_items": [line | LINE_TEXTS]}
    made = agent.call("drafts.create", body, key="create").data
    assert {name: made[name] for name in HEADER_TEXTS} == HEADER_TEXTS
    assert {name: made["line_items"][0][name] for name in LINE_TEXTS} == LINE_TEXTS

    path = f"/documents/{made['id']}/edit"
    assert desk.post(path, {**read_form(desk.get(path)), "save": ""}).status_code == 302
    assert agent.call("documents.get", id=made["id"]).data == made | {"lock_version": 2}


@pytest.mark.parametrize(
    ("currency", "numbers"),
    [
        ("EUR", ("150", "amount", "12")),
        ("BHD", ("1500", "amount", "100")),
        ("BHD", ("1234", "percent", "1234")),
        ("JPY", ("1500", "percent", "1000")),
        ("JPY", ("1", "percent", "0")),
    ],
)
def test_every_number_of_an_agent_is_kept_by_a_person_who_changes_nothing(
    agent, desk, draft_body, currency, numbers
):
    named = dict(zip(("unit_price", "discount_type", "discount_value"), numbers, strict=True))
    [line] = draft_body["line_items"]
    lines = [line | named | {"quantity": each} for each in QUANTITIES]
    body = draft_body | {"currency_code": currency, "line_items": lines}
    made = agent.call("drafts.create", body, key="create").data

    path = f"/documents/{made['id']}/edit"
    shown = read_form(desk.get(path))
    assert desk.post(path, {**shown, "calculate": ""}).status_code == 200
    assert desk.post(path, {**shown, "save": ""}).status_code == 302
    assert agent.call("documents.get", id=made["id"]).data == made | {"lock_version": 2}


def test_no_browser_counts_the_characters_of_a_text(desk, delegate, customer):
    """It would count an emoji as two, and keep a person from changing what an agent may write."""
    draft = make_draft(user=delegate, customer=customer, reference="👩" * 100)
    for path in (f"/documents/{draft.pk}/edit", path_of(prepare(draft, user=delegate))):
        limited = re.findall(r'name="([\w-]+)"[^>]* maxlength=', desk.get(path).content.decode())
        numbers = ("line-0-quantity", "line-0-unit_price", "line-0-discount_value", "exchange_rate")
        assert set(limited) <= {*numbers}


@pytest.fixture
def full(delegate, customer) -> Document:
    """A draft with every text that it may have."""
    lines = (line_input(**LINE_TEXTS),)
    return make_draft(user=delegate, customer=customer, lines=lines, **HEADER_TEXTS)


def test_what_is_approved_is_every_field(delegate, full):
    facts = prepare(full, user=delegate).read().prepared
    assert set(HEADER) - {"customer_id"} <= set(facts)
    assert set(LINE) <= set(facts["line_items"][0])
    assert {name: facts[name] for name in HEADER_TEXTS} == HEADER_TEXTS
    assert {name: facts["line_items"][0][name] for name in LINE_TEXTS} == LINE_TEXTS


@pytest.mark.requirement("approval.becomes_stale")
@pytest.mark.parametrize("path", TEXTS)
def test_a_change_of_any_text_makes_an_approval_stale_and_changes_the_fingerprint(
    delegate, customer, full, path
):
    prepared = prepare(full, user=delegate)
    *in_line, name = path.split(".")
    in_lines, in_header = ({name: "New"}, {}) if in_line else ({}, {name: "New"})
    changed = draft_input(customer, line_input(**LINE_TEXTS | in_lines), **HEADER_TEXTS | in_header)
    update_draft(delegate, full.pk, changed, lock_version=1)
    snapshot = prepared.read()
    assert snapshot.stale_fields == ["lock_version", path]
    assert fingerprint_facts(snapshot.current) != prepared.approval.fingerprint


@pytest.mark.usefixtures("clock")
def test_the_person_reads_every_text_and_what_changed_of_it(desk, delegate, customer, full):
    prepared = prepare(full, user=delegate)
    texts = [*HEADER_TEXTS.values(), *LINE_TEXTS.values()]
    page = read(desk.get(path_of(prepared)))
    assert [text for text in texts if text not in page] == []

    update_draft(delegate, full.pk, draft_input(customer), lock_version=1)
    snapshot = prepared.read()
    former = [change.before for change in find_changes(snapshot.prepared, snapshot.current)]
    assert [text for text in texts if text not in "\n".join(former)] == []


def test_a_text_that_is_left_out_is_left_out_everywhere(agent, draft_body):
    """Null, an empty text and a field that is not sent are the same, also to who reads it."""
    [line] = draft_body["line_items"]
    bare = {name: value for name, value in draft_body.items() if name not in HEADER_TEXTS}
    optional = [name for name in LINE_TEXTS if name != "description"]
    bare_line = {name: value for name, value in line.items() if name not in optional}
    answers = []
    for header, of_line in (
        ({}, {}),
        (dict.fromkeys(HEADER_TEXTS), dict.fromkeys(optional)),
        (dict.fromkeys(HEADER_TEXTS, ""), dict.fromkeys(optional, " ")),
    ):
        body = bare | header | {"line_items": [bare_line | of_line]}
        answers.append(agent.call("documents.preview", body).data)
    assert answers[0] == answers[1] == answers[2]
    assert {answers[0][name] for name in HEADER_TEXTS} == {None}
    assert {answers[0]["line_items"][0][name] for name in optional} == {None}
