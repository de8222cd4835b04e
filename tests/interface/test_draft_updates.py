"""A draft is replaced as a whole: what is left out is cleared, and only at its version."""

from dataclasses import replace

import pytest

from invoicing.draft_fields import PersonInput
from invoicing.models import Document, Line
from invoicing.services.drafts import create_draft
from invoicing.shown import FOR_PEOPLE
from invoicing.totals import DiscountType
from tests.factories import CustomerFactory, TaxRateFactory, draft_input, line_input, make_draft
from tests.interface.refusals import OLD_VERSION, invalid, nothing_changes, seen
from tests.tool_table import DRAFT, LINE, REQUIRED_OF_A_DRAFT, REQUIRED_OF_A_LINE

CLEARED_LINE = dict.fromkeys(name for name in LINE if name not in REQUIRED_OF_A_LINE)


def writable(data):
    """Return a document that was read, without its read-only fields."""
    lines = [{name: line[name] for name in LINE} for line in data["line_items"]]
    return {name: data[name] for name in (*DRAFT, "lock_version")} | {"line_items": lines}


def required(body):
    (line,) = body["line_items"]
    bare = {name: line[name] for name in REQUIRED_OF_A_LINE}
    return {name: body[name] for name in REQUIRED_OF_A_DRAFT} | {"line_items": [bare]}


@pytest.fixture
def rich(customer, delegate):
    """A draft with every field, several lines and kinds of discount."""
    rate = TaxRateFactory.create()
    lines = (
        line_input(
            description="First\n\nline",
            quantity=12_345,
            unit="h",
            tax_rate_id=rate.id,
            discount_type=DiscountType.PERCENT,
            discount_value=333,
        ),
        line_input(discount_type=DiscountType.AMOUNT, discount_value=0),
        line_input(unit_price=0),
    )
    return make_draft(
        user=delegate, customer=customer, lines=lines, notes="a\nb", reference="PO", language="fr"
    )


@pytest.mark.requirement("document.draft_editable")
def test_putting_back_what_was_read_changes_nothing_but_the_version(agent, rich):
    read = agent.call("documents.get", id=rich.id).data
    assert (read["language"], read["lock_version"], len(read["line_items"])) == ("fr", 1, 3)

    answer = agent.call("drafts.update", writable(read), id=rich.id, key="k")

    assert answer.status == 200
    assert answer.data == read | {"lock_version": 2}
    assert agent.call("documents.get", id=rich.id).data == read | {"lock_version": 2}


@pytest.mark.requirement("tool.drafts_update")
def test_what_is_left_out_is_cleared(agent, draft_body):
    created = agent.call("drafts.create", draft_body | {"language": "de"}, key="create").data
    body = required(draft_body) | {"lock_version": 1}

    data = agent.call("drafts.update", body, id=created["id"], key="update").data

    assert (data["language"], data["notes"], data["reference"]) == ("en", None, None)
    (line,) = data["line_items"]
    assert line == required(draft_body)["line_items"][0] | CLEARED_LINE | {
        "discount_amount": "0",
        "net_amount": "1575",
    }
    assert (data["tax_breakdown"], data["tax_total"]) == ([], "0")
    assert agent.call("documents.get", id=created["id"]).data == data


def test_null_means_absent(agent, draft_body):
    bare = required(draft_body)
    nulls = bare | {"language": None, "notes": None, "reference": None}
    nulls["line_items"] = [bare["line_items"][0] | CLEARED_LINE]
    assert (
        agent.call("documents.preview", nulls).content
        == agent.call("documents.preview", bare).content
    )
    created = agent.call("drafts.create", draft_body, key="create").data
    updated = agent.call(
        "drafts.update", nulls | {"lock_version": 1}, id=created["id"], key="update"
    ).data
    assert (updated["notes"], updated["line_items"][0]["unit"]) == (None, None)


def test_an_update_replaces_the_lines(agent, rich, draft_body):
    body = draft_body | {"lock_version": 1}
    data = agent.call("drafts.update", body, id=rich.id, key="k").data
    assert [line["description"] for line in data["line_items"]] == ["Consulting"]
    assert Line.objects.filter(document=rich).count() == 1
    assert (data["id"], data["draft_code"]) == (str(rich.id), rich.draft_code)


def test_an_update_may_change_customer_currency_and_dates(agent, rich, draft_body):
    changes = {"currency_code": "JPY", "issue_date": "2027-01-01", "due_date": "2027-01-01"}
    body = draft_body | changes | {"lock_version": 1}
    data = agent.call("drafts.update", body, id=rich.id, key="k").data
    assert changes.items() <= data.items()
    assert data["minor_unit"] == 0


@pytest.mark.requirement("draft_input.lock_version", "tool.drafts_update_new_key")
def test_each_update_raises_the_version_by_one(agent, draft, draft_body):
    for version in (1, 2, 3):
        body = draft_body | {"lock_version": version}
        answer = agent.call("drafts.update", body, id=draft.id, key=f"k{version}")
        assert (answer.status, answer.data["lock_version"]) == (200, version + 1)
    assert Document.objects.get(pk=draft.pk).lock_version == 4


@pytest.mark.requirement("error.conflict", "error.stale_update")
def test_any_other_version_is_a_conflict_and_changes_nothing(agent, draft, draft_body):
    agent.call("drafts.update", draft_body | {"lock_version": 1}, id=draft.id, key="first")
    with nothing_changes():
        for version in (1, 3, 2**31 - 1):
            body = draft_body | {"lock_version": version, "reference": "late"}
            answer = agent.call("drafts.update", body, id=draft.id, key="second")
            assert seen(answer) == OLD_VERSION


@pytest.mark.parametrize("tool", ["drafts.update", "documents.issue_prepare"])
@pytest.mark.parametrize(
    ("problem", "versions"),
    [
        ("must be an integer", ["1", 1.5, True, None, [], [1], {}]),
        ("must be at least 1", [0, -1]),
        ("must be at most 2147483647", [2**31, 10**30]),
    ],
)
def test_a_version_is_a_positive_integer(agent, calls, tool, problem, versions):
    with nothing_changes():
        for version in versions:
            arguments = {**calls[tool].arguments, "lock_version": version}
            answer = replace(calls[tool], arguments=arguments).made_by(agent)
            assert seen(answer) == invalid(("lock_version", problem)), version


def test_an_update_that_is_wrong_keeps_the_draft_as_it_was(agent, draft, draft_body):
    read = agent.call("documents.get", id=draft.id)
    wrong = draft_body | {"lock_version": 1, "due_date": "2026-03-01"}
    assert agent.call("drafts.update", wrong, id=draft.id, key="k").status == 422
    assert agent.call("documents.get", id=draft.id).content == read.content


KEPT = (
    ("notes", "  one\r\ntwo\rthree\tfour \n", "one\ntwo\nthree four"),
    ("notes", " \r\n\t ", None),
    ("notes", "\u00a0e\u0301\u200d ", "e\u0301\u200d"),
    ("reference", "\tPO\t7\r\n", "PO 7"),
    ("reference", "", None),
    ("reference", "日本\u2028語", "日本\u2028語"),
)


def test_a_text_is_kept_in_one_form(agent, draft_body):
    for number, (field, sent, kept) in enumerate(KEPT):
        data = agent.call("drafts.create", draft_body | {field: sent}, key=f"k{number}").data
        assert data[field] == kept
        assert agent.call("documents.get", id=data["id"]).data[field] == kept


def test_the_texts_of_a_line_are_kept_in_one_form(agent, draft_body):
    line = draft_body["line_items"][0] | {"description": " a\r\n\r\nb\t", "unit": "\tm\t2 "}
    data = agent.call("drafts.create", draft_body | {"line_items": [line]}, key="k").data
    (kept,) = data["line_items"]
    assert (kept["description"], kept["unit"]) == ("a\n\nb", "m 2")


@pytest.fixture
def written_by_person(delegate, company, customer):
    """A draft in USD with all that only people write, and its values."""
    by_person = PersonInput.model_validate(
        {
            "supply_date": "2026-02-01",
            "supply_end_date": "2026-02-28",
            "delivery_country": "BE",
            "buyer_reference": "PO 7",
            "exchange_rate": "1.085",
            "exchange_rate_base": "EUR",
            "exchange_rate_date": "2026-02-27",
        }
    )
    asked = draft_input(customer, currency_code="USD")
    return create_draft(delegate, asked, by_person).document, dict(by_person)


def test_an_update_keeps_what_only_people_write(agent, written_by_person, draft_body):
    draft, written = written_by_person
    body = draft_body | {"currency_code": "USD", "lock_version": 1}
    assert agent.call("drafts.update", body, id=draft.id, key="k").status == 200
    assert FOR_PEOPLE.values(Document.objects.get()) == written


def test_a_buyers_reference_does_not_outlive_its_customer(agent, written_by_person, draft_body):
    draft, written = written_by_person
    body = draft_body | {"customer_id": str(CustomerFactory.create().id), "currency_code": "USD"}
    answer = agent.call("drafts.update", body | {"lock_version": 1}, id=draft.id, key="k")
    assert answer.status == 200
    assert FOR_PEOPLE.values(Document.objects.get()) == written | {"buyer_reference": ""}


def test_an_exchange_rate_does_not_outlive_its_currency(agent, written_by_person, draft_body):
    draft, written = written_by_person
    body = draft_body | {"currency_code": "GBP", "lock_version": 1}
    assert agent.call("drafts.update", body, id=draft.id, key="k").status == 200
    ended = {"exchange_rate": None, "exchange_rate_base": "", "exchange_rate_date": None}
    assert FOR_PEOPLE.values(Document.objects.get()) == written | ended
