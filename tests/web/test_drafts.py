"""Writing drafts in a form: the same services, the same versions, nothing typed is lost."""

import re
from functools import partial
from typing import Any

import pytest

from invoicing.access import Permission
from invoicing.models import Document, DocumentStatus, DocumentType, TaxRate, User
from invoicing.services.drafts import update_draft
from invoicing.services.issuing import issue_document
from invoicing.totals import DiscountType
from invoicing.web import drafts
from invoicing.web.draft_codes import give_code
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_issued,
    make_staff,
    withdraw,
)
from tests.threads import run_together
from tests.web.forms import main_of, read_form, text_of

pytestmark = pytest.mark.django_db

# What stands where a field is empty.
NOTHING = "\N{EN DASH}"

WRITER = (Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER, Permission.MANAGE)


@pytest.fixture
def writer(company):
    return make_staff(*WRITER)


@pytest.fixture
def browser(writer, sign_in):
    return sign_in(writer)


@pytest.fixture
def filled(customer, tax_rate) -> dict[str, Any]:
    """What a person types: 1.5 x 10.50 less 10 %, and 19 % VAT."""
    return {
        "customer_id": str(customer.id),
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "language": "de",
        "reference": "PO 7",
        "notes": "Thank you.\r\nSee you.",
        "lines": "1",
        "line-0-description": "Consulting",
        "line-0-quantity": "1.5",
        "line-0-unit": "h",
        "line-0-unit_price": "10.50",
        "line-0-discount_value": "10",
        "line-0-discount_type": "percent",
        "line-0-tax_rate_id": str(tax_rate.id),
    }


def test_a_person_makes_a_draft(browser, writer, filled, customer):
    answer = browser.post("/documents/new", {**filled, "save": ""})
    draft = Document.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/documents/{draft.id}")
    assert (draft.customer, draft.created_by, draft.connection_id) == (customer, writer, None)
    assert (draft.net_total, draft.tax_total, draft.language) == (1417, 269, "de")
    assert (draft.notes, draft.reference) == ("Thank you.\nSee you.", "PO 7")
    line = draft.lines.get()
    assert (line.unit_price, line.discount_value, line.quantity) == (1050, 1000, "1.5")


@pytest.mark.parametrize(
    ("currency", "kind", "typed", "kept"),
    [
        ("JPY", "amount", "5", 5),
        ("JPY", "percent", "12.5", 1250),
        ("BHD", "amount", "0.125", 125),
        ("BHD", "percent", "12.5", 1250),
    ],
)
def test_a_discount_is_an_amount_of_its_currency_or_hundredths_of_a_percent(
    browser, filled, currency, kind, typed, kept
):
    line = {"unit_price": "100", "discount_type": kind, "discount_value": typed}
    form = filled | {f"line-0-{name}": text for name, text in line.items()}
    browser.post("/documents/new", {**form, "currency_code": currency, "save": ""})
    draft = Document.objects.get()
    assert draft.lines.get().discount_value == kept
    again = read_form(browser.get(f"/documents/{draft.id}/edit"))
    assert again["line-0-discount_value"] == typed


def test_sending_a_form_twice_makes_one_draft(browser, writer, filled):
    earlier = make_draft(user=writer)
    form = filled | {"draft_code": read_form(browser.get("/documents/new"))["draft_code"]}
    answers = [browser.post("/documents/new", {**form, "save": ""}) for _ in range(2)]
    draft = Document.objects.exclude(pk=earlier.pk).get()
    assert [answer["Location"] for answer in answers] == [f"/documents/{draft.id}"] * 2
    assert form["draft_code"].startswith(f"{draft.draft_code}:")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_double_click_makes_one_draft(browser, writer, sign_in, filled):
    form = {**filled, "draft_code": give_code(writer), "save": ""}
    browsers = [sign_in(writer) for _ in range(5)]
    clicks = [partial(each.post, "/documents/new", form) for each in browsers]
    answers = run_together(clicks)
    path = f"/documents/{Document.objects.get().id}"
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, path)}


def test_a_form_taken_up_again_keeps_its_code_until_it_is_used(browser, filled):
    form = filled | {"draft_code": read_form(browser.get("/documents/new"))["draft_code"]}
    for button in ({"calculate": ""}, {"add_line": ""}, {"save": "", "reference": "x" * 101}):
        shown = read_form(browser.post("/documents/new", form | button))
        assert shown["draft_code"] == form["draft_code"]
    assert not Document.objects.exists()


def test_a_used_form_that_says_something_else_is_not_swallowed(browser, filled):
    """After going back to a form, a person may write another draft into it."""
    form = filled | {"draft_code": read_form(browser.get("/documents/new"))["draft_code"]}
    browser.post("/documents/new", {**form, "save": ""})
    first = Document.objects.get()
    answer = browser.post("/documents/new", {**form, "reference": "Another", "save": ""})
    assert answer.status_code == 409
    assert f'has made a draft before, <a href="/documents/{first.id}">{first}</a>' in text_of(
        answer
    )
    again = read_form(answer)
    assert again["reference"] == "Another"
    assert again["draft_code"] != form["draft_code"]
    assert list(Document.objects.values_list("reference", flat=True)) == ["PO 7"]
    assert browser.post("/documents/new", {**again, "save": ""}).status_code == 302
    assert sorted(Document.objects.values_list("reference", flat=True)) == ["Another", "PO 7"]


def test_a_used_form_of_an_issued_document_makes_nothing(browser, filled):
    form = filled | {"draft_code": read_form(browser.get("/documents/new"))["draft_code"]}
    browser.post("/documents/new", {**form, "save": ""})
    issued = issue_document(Document.objects.get(), clock=at(ISSUED_AT))
    answer = browser.post("/documents/new", {**form, "save": ""})
    assert answer["Location"] == f"/documents/{issued.id}"
    assert Document.objects.count() == 1


@pytest.mark.parametrize("code", ["", "D-12345678", "D-12345678:x", "x" * 5000, "another person's"])
def test_a_code_that_was_not_given_is_another_one(browser, colleague, filled, code):
    sent = give_code(colleague) if code == "another person's" else code
    browser.post("/documents/new", {**filled, "draft_code": sent, "save": ""})
    draft = Document.objects.get()
    assert re.fullmatch("D-[0-9A-Z]{8}", draft.draft_code)
    assert draft.draft_code not in sent


def test_a_new_draft_begins_today_with_one_line(company, sign_in, time_machine):
    time_machine.move_to("2026-12-31T23:30:00+00:00")
    make_draft(currency_code="JPY")
    browser = sign_in(make_staff(*WRITER, time_zone="Europe/Berlin"))
    form = read_form(browser.get("/documents/new"))
    assert (form["issue_date"], form["due_date"]) == ("2027-01-01", "2027-01-31")
    assert (form["currency_code"], form["lines"], form["language"]) == ("JPY", "1", "en")


def test_a_saved_draft_comes_back_as_it_was_typed(browser, filled):
    browser.post("/documents/new", {**filled, "save": ""})
    draft = Document.objects.get()
    form = read_form(browser.get(f"/documents/{draft.id}/edit"))
    assert form.pop("lock_version") == "1"
    assert form == {**filled, "notes": "Thank you.\nSee you."}


def test_saving_an_untouched_form_changes_only_the_version(browser, filled):
    browser.post("/documents/new", {**filled, "save": ""})
    draft = Document.objects.get()
    lines = list(draft.lines.values_list("unit_price", "discount_value", "net_amount"))
    path = f"/documents/{draft.id}/edit"
    answer = browser.post(path, {**read_form(browser.get(path)), "save": ""})
    assert answer.status_code == 302
    again = Document.objects.get()
    assert again.lock_version == 2
    assert again.grand_total == draft.grand_total
    assert list(again.lines.values_list("unit_price", "discount_value", "net_amount")) == lines


@pytest.mark.parametrize(
    ("currency", "typed", "kept"),
    [("EUR", "12", 1200), ("EUR", "12,5", 1250), ("JPY", "1200", 1200), ("BHD", "0.001", 1)],
)
def test_a_price_is_typed_in_the_currency(browser, filled, currency, typed, kept):
    changes = {"currency_code": currency, "line-0-unit_price": typed, "save": ""}
    browser.post("/documents/new", filled | changes)
    assert Document.objects.get().lines.get().unit_price == kept


def test_an_amount_discount_is_typed_in_the_currency(browser, filled):
    changes = {"line-0-discount_value": "5.25", "line-0-discount_type": "amount", "save": ""}
    browser.post("/documents/new", filled | changes)
    line = Document.objects.get().lines.get()
    assert (line.discount_type, line.discount_value) == (DiscountType.AMOUNT, 525)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"customer_id": ""}, "This field is required."),
        ({"customer_id": "01a00000-0000-7000-8000-000000000000"}, "Select a valid choice."),
        ({"due_date": "2026-03-01"}, "Must not be before the issue date."),
        ({"issue_date": "yesterday"}, "Enter a valid date."),
        ({"currency_code": "XAU"}, "Select a valid choice."),
        ({"language": "xx"}, "Select a valid choice."),
        ({"reference": "x" * 101}, "Must have at most 100 characters."),
        ({"notes": "x\x07"}, "Must not contain control characters."),
        ({"line-0-description": " "}, "Must not be empty."),
        ({"line-0-quantity": "0"}, "Must be positive"),
        ({"line-0-quantity": "1.00001"}, "Write at most 4 decimals."),
        ({"line-0-quantity": "-1"}, "Write digits, and a dot before decimals: 1234.50"),
        ({"line-0-unit_price": "1.234"}, "Write at most 2 decimals."),
        ({"line-0-unit_price": "1,234"}, "This can be read in two ways."),
        ({"line-0-unit_price": "1.234,50"}, "Write digits, and a dot before decimals: 1234.50"),
        ({"line-0-unit_price": "9" * 30}, "Must be a whole number of at most 18 digits."),
        ({"line-0-unit_price": "9" * 16, "line-0-quantity": "900"}, "more than 18 digits"),
        ({"line-0-discount_value": "101"}, "Must not be larger than quantity times unit price."),
        ({"line-0-tax_rate_id": "x"}, "Select a valid choice."),
    ],
)
def test_a_mistake_is_named_beside_its_field_and_nothing_is_saved(
    browser, filled, changes, sentence
):
    answer = browser.post("/documents/new", filled | changes | {"save": ""})
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not Document.objects.exists()
    shown = read_form(answer)
    for name, typed in changes.items():
        if "choice" not in sentence:
            assert shown[name] == typed


def test_all_mistakes_are_named_at_once(browser, filled):
    changes = {"customer_id": "", "line-0-quantity": "x", "line-0-unit_price": "", "save": ""}
    answer = browser.post("/documents/new", filled | changes)
    assert text_of(answer).count('class="errorlist"') == 3
    for label, field in (
        ("Customer", "customer_id"),
        ("Line 1, quantity", "line-0-quantity"),
        ("Line 1, unit price", "line-0-unit_price"),
    ):
        assert f'<a href="#id_{field}">{label}</a>' in text_of(answer)
        assert f'id="id_{field}"' in text_of(answer)


@pytest.mark.parametrize(
    ("pressed", "place"),
    [("add_line", "line-3"), ("remove_line", "line-1"), ("calculate", "totals")],
)
def test_the_answer_to_a_button_is_read_where_it_came_about(browser, filled, pressed, place):
    second = {name.replace("-0-", "-1-"): typed for name, typed in filled.items()}
    page = browser.post("/documents/new", second | filled | {"lines": "2", "calculate": ""})
    leads_to = re.findall(rf'name="{pressed}"[^>]*formaction="[?]#([^"]+)"', text_of(page))
    answer = browser.post("/documents/new", {**read_form(page), pressed: "0"})
    assert leads_to[0] == place
    assert f'id="{place}"' in text_of(answer)


def test_a_line_is_added_and_removed_without_losing_what_was_typed(browser, filled):
    typed = {**filled, "line-0-unit_price": "1,234", "add_line": ""}
    added = browser.post("/documents/new", typed)
    assert added.status_code == 200
    form = read_form(added)
    assert (form["lines"], form["line-0-unit_price"], form["line-1-description"]) == (
        "2",
        "1,234",
        "",
    )
    assert "errorlist" not in text_of(added)
    form["line-1-description"] = "Second"
    removed = read_form(browser.post("/documents/new", {**form, "remove_line": "0"}))
    assert (removed["lines"], removed["line-0-description"]) == ("1", "Second")
    assert not Document.objects.exists()


def test_the_last_line_stays_and_a_hundred_are_the_most(browser, filled):
    form = read_form(browser.post("/documents/new", {**filled, "remove_line": "0"}))
    assert (form["lines"], form["line-0-description"]) == ("1", "")
    full = browser.post("/documents/new", {**filled, "lines": "100", "add_line": ""})
    assert read_form(full)["lines"] == "100"
    assert "Add a line" not in text_of(full)


@pytest.mark.parametrize("lines", ["", "0", "-1", "x", "10000", "²"])
def test_an_odd_count_of_lines_is_no_mistake_of_the_server(browser, filled, lines):
    answer = browser.post("/documents/new", {**filled, "lines": lines, "add_line": ""})
    assert answer.status_code == 200


def test_calculate_shows_the_totals_and_saves_nothing(browser, filled):
    answer = browser.post("/documents/new", {**filled, "calculate": ""})
    assert answer.status_code == 200
    assert '<dd lang="de"> 16,86 € </dd>' in text_of(answer)
    assert not Document.objects.exists()


def test_a_stale_edit_shows_what_differs_and_keeps_what_was_typed(browser, writer, customer):
    draft = make_draft(customer=customer, user=writer)
    path = f"/documents/{draft.id}/edit"
    form = read_form(browser.get(path))
    other = draft_input(customer, line_input(quantity=30000), line_input(), reference="Theirs")
    update_draft(writer, draft.pk, other, lock_version=1)

    answer = browser.post(path, {**form, "notes": "Mine", "save": ""})

    assert answer.status_code == 409
    text = text_of(answer)
    assert "Somebody changed this draft while you were writing" in text
    row = (
        '<th scope="row">{}</th> <td data-label="Saved now"><span class="text">{}</span></td>'
        ' <td data-label="Yours"><span class="text">{}</span></td>'
    )
    for label, saved, typed in [
        ("Reference", "Theirs", NOTHING),
        ("Notes on the invoice", NOTHING, "Mine"),
        ("Line 1, quantity", "3", "2"),
        ("Line 2, description", "Consulting", NOTHING),
    ]:
        assert row.format(label, saved, typed) in text
    assert "Line 1, description" not in text
    assert Document.objects.get().reference == "Theirs"
    assert "Save mine over it" in text_of(answer)
    again = read_form(answer)
    assert (again["notes"], again["lock_version"]) == ("Mine", "2")

    assert browser.post(path, {**again, "save": ""}).status_code == 302
    stored = Document.objects.get()
    assert (stored.notes, stored.reference, stored.lock_version) == ("Mine", "", 3)


@pytest.mark.parametrize("pressed", [{"calculate": ""}, {"save": "", "due_date": "never"}], ids=str)
def test_a_form_that_is_shown_again_stands_on_the_version_that_was_seen(
    browser, writer, customer, pressed
):
    draft = make_draft(customer=customer, user=writer)
    path = f"/documents/{draft.id}/edit"
    form = read_form(browser.get(path))
    other = draft_input(customer, reference="Theirs")
    update_draft(writer, draft.pk, other, lock_version=1)
    again = read_form(browser.post(path, {**form, **pressed}))

    answer = browser.post(path, {**again, "due_date": form["due_date"], "save": ""})

    assert answer.status_code == 409
    assert Document.objects.get().reference == "Theirs"


def test_an_edit_of_what_was_issued_meanwhile_saves_nothing(browser, writer, customer):
    draft = make_draft(customer=customer, user=writer)
    path = f"/documents/{draft.id}/edit"
    form = read_form(browser.get(path))
    issued = issue_document(draft, clock=at(ISSUED_AT))
    answer = browser.post(path, {**form, "notes": "Mine", "save": ""})
    assert answer.status_code == 409
    assert f"It is {issued.number} now and stays as it is." in text_of(answer)
    assert "Save mine over it" not in text_of(answer)
    assert read_form(answer)["notes"] == "Mine"
    assert Document.objects.get().notes == ""


@pytest.mark.parametrize("lock_version", ["", "0", "x", "9" * 40, "-1"])
def test_an_odd_version_is_a_stale_one(browser, writer, customer, lock_version):
    draft = make_draft(customer=customer, user=writer)
    path = f"/documents/{draft.id}/edit"
    form = read_form(browser.get(path)) | {"lock_version": lock_version, "save": ""}
    assert browser.post(path, form).status_code == 409
    assert Document.objects.get().lock_version == 1


def test_what_became_inactive_is_shown_as_such_and_refused(browser, writer):
    rate = TaxRateFactory.create(name="Old rate")
    draft = make_draft(
        customer=CustomerFactory.create(name="Gone"),
        user=writer,
        lines=(line_input(tax_rate_id=rate.id),),
    )
    TaxRateFactory.create(name="Never used")
    TaxRate.objects.update(is_active=False)
    type(draft.customer).objects.update(is_active=False)
    path = f"/documents/{draft.id}/edit"
    page = browser.get(path)
    assert "Gone, Amsterdam (inactive)" in text_of(page)
    assert "Old rate (19 %) (inactive)" in text_of(page)
    assert "Never used" not in text_of(page)
    answer = browser.post(path, {**read_form(page), "save": ""})
    assert answer.status_code == 422
    assert "Is not an active customer within reach." in text_of(answer)
    assert "Is not an active tax rate." in text_of(answer)


def test_only_customers_in_scope_can_be_chosen(sign_in, company, stranger):
    CustomerFactory.create(name="Hidden")
    CustomerFactory.create(name="Mine", account_managers=[stranger])
    CustomerFactory.create(name="Closed", account_managers=[stranger], is_active=False)
    text = text_of(sign_in(stranger).get("/documents/new"))
    assert "Mine" in text
    assert "Hidden" not in text
    assert "Closed" not in text


@pytest.mark.parametrize(
    ("right", "status"), [(Permission.MANAGE, 403), (Permission.VIEW_ALL_CUSTOMERS, 404)]
)
@pytest.mark.parametrize("service", ["create_draft", "update_draft"])
def test_what_was_withdrawn_while_a_lock_was_waited_for_is_not_used(  # noqa: PLR0917  fixtures
    company, sign_in, filled, customer, monkeypatch, service, right, status
):
    writer = make_staff(*WRITER, Permission.VIEW_ALL_CUSTOMERS)
    browser, draft = sign_in(writer), make_draft(customer=customer)
    page = "/documents/new" if service == "create_draft" else f"/documents/{draft.id}/edit"
    form = read_form(browser.get(page)) | filled
    write = getattr(drafts, service)

    def write_after_waiting(*args: Any, **kwargs: Any) -> Any:
        withdraw(User.objects.get(pk=writer.pk), right)
        return write(*args, **kwargs)

    monkeypatch.setattr(drafts, service, write_after_waiting)
    before = Document.objects.values().get()
    assert browser.post(page, form).status_code == status
    assert Document.objects.values().get() == before


def test_who_may_not_look_customers_up_keeps_the_one_of_the_draft(sign_in, company):
    CustomerFactory.create(name="Elsewhere")
    draft = make_draft(customer=CustomerFactory.create(name="Acme Ltd"))
    browser = sign_in(make_staff(Permission.VIEW_DOCUMENT, Permission.MANAGE))
    text = text_of(browser.get(f"/documents/{draft.id}/edit"))
    assert "Acme Ltd" in text
    assert "Elsewhere" not in text


@pytest.mark.parametrize("issued", [True, False])
def test_what_cannot_be_changed_has_no_form(browser, issued):
    document = make_issued() if issued else make_draft(document_type=DocumentType.CREDIT_NOTE)
    answer = browser.get(f"/documents/{document.id}/edit")
    assert (answer.status_code, answer["Location"]) == (302, f"/documents/{document.id}")
    assert "/edit" not in main_of(browser.get(f"/documents/{document.id}"))


def test_a_person_may_change_what_an_agent_prepared(browser, writer, customer, agent, draft_body):
    made = agent.call("drafts.create", draft_body, key="k").data
    path = f"/documents/{made['id']}/edit"
    browser.post(path, {**read_form(browser.get(path)), "reference": "Checked", "save": ""})
    seen = agent.call("documents.get", id=made["id"]).data
    assert (seen["reference"], seen["lock_version"]) == ("Checked", 2)
    assert seen["connection_id"] == made["connection_id"]
    assert Document.objects.get().status == DocumentStatus.DRAFT
