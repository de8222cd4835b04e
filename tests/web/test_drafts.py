"""Writing drafts in a form: what is typed, and what is saved."""

import re
from typing import Any

import pytest

from invoicing.access import Permission
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Customer, Document, DocumentStatus, DocumentType
from invoicing.web.drafts.forms import HeaderForm, LineForm, PersonForm
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    make_draft,
    make_issued,
)
from tests.web.forms import main_of, read_form, text_of

pytestmark = pytest.mark.sqlite  # a form is read and shown alike on both databases


def test_a_person_makes_a_draft(writer_desk, writer, filled, customer):
    answer = writer_desk.post("/documents/new", {**filled, "save": ""})
    draft = Document.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/documents/{draft.id}?done")
    assert (draft.customer, draft.created_by, draft.connection_id) == (customer, writer, None)
    assert (draft.net_total, draft.tax_total, draft.language) == (1417, 269, "de")
    assert (draft.notes, draft.reference) == ("Thank you.\nSee you.", "PO 7")
    line = draft.lines.get()
    assert (line.unit_price, line.discount_value, line.quantity) == (1050, 1000, "1.5")


@pytest.mark.parametrize("name", ["issue_date", "due_date"])
def test_a_year_of_two_digits_is_not_taken_for_the_first_century(writer_desk, filled, name):
    answer = writer_desk.post("/documents/new", {**filled, name: "0026-11-20", "save": ""})
    assert answer.status_code == 422
    assert "Write the year with four digits, such as 2026." in text_of(answer)
    assert not Document.objects.exists()
    first = {"issue_date": "1900-01-01", "due_date": "9999-12-31"}
    writer_desk.post("/documents/new", {**filled, **first, "save": ""})
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("currency", "typed", "kept", "shown"),
    [
        ("EUR", {"unit_price": "12"}, 1200, "12.00"),
        ("EUR", {"unit_price": "12,5"}, 1250, "12.50"),
        ("JPY", {"unit_price": "1200"}, 1200, "1200"),
        ("BHD", {"unit_price": "0.001"}, 1, "0.001"),
        # A dot begins the decimals, three of them too.
        ("BHD", {"unit_price": "1.500"}, 1500, "1.500"),
        ("EUR", {"discount_type": "amount", "discount_value": "5.25"}, 525, "5.25"),
        ("JPY", {"discount_type": "amount", "discount_value": "5"}, 5, "5"),
        ("BHD", {"discount_type": "amount", "discount_value": "0.125"}, 125, "0.125"),
        # Hundredths of a percent.
        ("JPY", {"discount_type": "percent", "discount_value": "12.5"}, 1250, "12.5"),
        ("BHD", {"discount_type": "percent", "discount_value": "12.5"}, 1250, "12.5"),
    ],
)
def test_a_price_and_a_discount_are_typed_and_shown_in_the_currency(
    writer_desk, filled, currency, typed, kept, shown
):
    [*_, number] = typed
    line = {"unit_price": "100", "discount_value": "", **typed}
    form = filled | {f"line-0-{name}": text for name, text in line.items()}
    writer_desk.post("/documents/new", {**form, "currency_code": currency, "save": ""})
    draft = Document.objects.get()
    assert getattr(draft.lines.get(), number) == kept
    again = read_form(writer_desk.get(f"/documents/{draft.id}/edit"))
    assert again[f"line-0-{number}"] == shown


def test_calculating_shows_in_each_line_how_its_numbers_were_understood(writer_desk, filled_twice):
    second = {"line-1-quantity": "1500", "line-1-discount_value": ""}
    form = filled_twice | second | {"language": "en"}
    page = text_of(writer_desk.post("/documents/new", {**form, "calculate": ""}))
    assert re.findall(r'<p class="hint reading" lang="en">([^<]*)</p>', page) == [
        "1.5 \N{MULTIPLICATION SIGN} €10.50 \N{MINUS SIGN} €1.58 = €14.17",
        "1,500 \N{MULTIPLICATION SIGN} €10.50 = €15,750.00",
    ]
    assert "reading" not in text_of(writer_desk.get("/documents/new"))
    assert "reading" not in text_of(writer_desk.post("/documents/new", {**form, "add_line": ""}))


def test_a_new_draft_begins_today_with_one_line(sign_in, writer, time_machine):
    time_machine.move_to("2026-12-31T23:30:00+00:00")
    make_draft(currency_code="JPY")
    writer.time_zone = "Europe/Berlin"
    writer.save()
    form = read_form(sign_in(writer).get("/documents/new"))
    assert (form["issue_date"], form["due_date"]) == ("2027-01-01", "2027-01-31")
    assert (form["currency_code"], form["line-TOTAL_FORMS"], form["language"]) == ("JPY", "1", "en")


@pytest.fixture
def swiss(company) -> Customer:
    """A customer that has agreed on everything."""
    Company.objects.update(payment_days=14)
    return CustomerFactory.create(language="fr", currency_code="CHF", payment_days=10)


@pytest.fixture
def today(time_machine) -> None:
    time_machine.move_to("2026-03-02T12:00:00+00:00")


def proposed_in(form) -> tuple[str, ...]:
    return form["currency_code"], form["language"], form["due_date"]


@pytest.mark.usefixtures("today")
def test_a_draft_begins_from_the_page_of_a_customer_with_what_it_has_agreed(writer_desk, swiss):
    link = f"/documents/new?customer={swiss.id}"
    assert f'href="{link}"' in text_of(writer_desk.get(f"/customers/{swiss.id}"))
    form = read_form(writer_desk.get(link))
    assert (form["customer_id"], *proposed_in(form)) == (str(swiss.id), "CHF", "fr", "2026-03-12")
    Customer.objects.update(is_active=False)
    assert link not in text_of(writer_desk.get(f"/customers/{swiss.id}"))
    form = read_form(writer_desk.get(link))
    assert (form["customer_id"], *proposed_in(form)) == ("", "EUR", "en", "2026-03-16")


@pytest.mark.usefixtures("today")
def test_what_is_proposed_follows_the_customer_but_not_what_a_person_chose(
    writer_desk, filled, swiss, customer
):
    form = read_form(writer_desk.get("/documents/new"))
    lines = {name: text for name, text in filled.items() if name.startswith("line")}

    def choose(chosen: Customer, form: Any) -> Any:
        sent = {**form, **lines, "customer_id": str(chosen.id), "calculate": ""}
        return read_form(writer_desk.post("/documents/new", sent))

    form = choose(swiss, form)
    assert proposed_in(form) == ("CHF", "fr", "2026-03-12")
    form = choose(customer, form | {"language": "de"})
    assert proposed_in(form) == ("EUR", "de", "2026-03-16")
    # What is saved is what was seen.
    sent = {**form, **lines, "customer_id": str(swiss.id), "save": ""}
    assert writer_desk.post("/documents/new", sent).status_code == 302
    assert Document.objects.get().currency_code == "EUR"


def test_the_form_says_what_may_stay_empty(writer_desk):
    fields = [*HeaderForm.base_fields.values(), *LineForm.base_fields.values()]
    optional = [str(each.label) for each in fields if not each.required]
    page = text_of(writer_desk.get("/documents/new"))
    said = re.findall(r"<label[^>]*>([^<]+) <span[^>]*>\(optional\)</span>", page)
    # A list says by its first choice that nothing need be chosen.
    assert {*optional} - {*said} == {"Tax", "Discount in"}
    assert {*said} <= {*optional}
    assert "All of this is optional, and agents neither see nor change it." in page


def test_a_new_draft_begins_in_no_currency_of_a_hidden_document(sign_in, company):
    manager = UserFactory.create(permissions=[Permission.MANAGE, Permission.VIEW_DOCUMENT])
    own = CustomerFactory.create(account_managers=[manager])
    make_draft(currency_code="JPY")
    desk = sign_in(manager)
    assert read_form(desk.get("/documents/new"))["currency_code"] == "EUR"
    make_draft(customer=own, currency_code="BHD")
    make_draft(currency_code="JPY")
    assert read_form(desk.get("/documents/new"))["currency_code"] == "BHD"


def test_a_new_draft_begins_in_the_currency_of_most_of_the_newest_documents(writer_desk):
    for code in ("EUR", "EUR", "JPY"):
        make_draft(currency_code=code)
    assert read_form(writer_desk.get("/documents/new"))["currency_code"] == "EUR"
    make_draft(currency_code="JPY")
    assert (
        read_form(writer_desk.get("/documents/new"))["currency_code"] == "JPY"
    )  # the newest, if even


def test_a_new_line_has_the_tax_of_the_last_one(writer_desk, filled):
    rate = str(TaxRateFactory.create().id)
    typed = {**filled, "line-0-tax_rate_id": rate, "add_line": ""}
    form = read_form(writer_desk.post("/documents/new", typed))
    assert (form["line-1-tax_rate_id"], form["line-1-description"]) == (rate, "")


def test_a_new_draft_begins_in_no_currency_that_was_withdrawn(writer_desk):
    make_draft()
    Document.objects.update(currency_code="BGN")
    assert read_form(writer_desk.get("/documents/new"))["currency_code"] == "EUR"


def test_a_draft_keeps_a_withdrawn_currency_until_a_person_chooses_another(writer_desk, writer):
    path = f"/documents/{make_draft(user=writer).id}/edit"
    Document.objects.update(currency_code="BGN")
    form = read_form(writer_desk.get(path))
    assert form["currency_code"] == "BGN"
    answer = writer_desk.post(path, {**form, "save": ""})
    assert (answer.status_code, read_form(answer)["currency_code"]) == (422, "BGN")
    assert "Is not a supported currency." in text_of(answer)
    assert writer_desk.post(path, {**form, "currency_code": "EUR", "save": ""}).status_code == 302


def test_tax_rates_are_offered_from_the_highest_and_then_by_name(writer_desk):
    for name, percentage in [("Reverse charge", 0), ("Exempt", 0), ("Reduced", 7), ("Full", 19)]:
        TaxRateFactory.create(name=name, percentage_ten_thousandths=percentage * SCALE)
    [options] = re.findall(
        r'<select name="line-0-tax_rate_id".*?</select>', text_of(writer_desk.get("/documents/new"))
    )
    names = re.findall(r"<option[^>]*>([^<]*)", options)
    rates = ["Full (19 %)", "Reduced (7 %)", "Exempt (0 %)", "Reverse charge (0 %)"]
    assert [name.strip() for name in names] == ["No tax", *rates]


def test_a_saved_draft_comes_back_as_it_was_typed(writer_desk, filled):
    writer_desk.post("/documents/new", {**filled, "save": ""})
    draft = Document.objects.get()
    form = read_form(writer_desk.get(f"/documents/{draft.id}/edit"))
    assert form.pop("lock_version") == "1"
    for name in ("INITIAL", "MIN_NUM", "MAX_NUM"):
        del form[f"line-{name}_FORMS"]
    # Of the lists, the first is selected.
    unset = dict.fromkeys(PersonForm.base_fields, "") | {"exchange_rate_base": "EUR"}
    assert form == {**filled, **unset, "notes": "Thank you.\nSee you."}


def test_who_saves_is_told_so_and_that_nothing_was_sent(writer_desk, filled):
    told = "Saved. It has no number yet, and nothing was sent."
    made = writer_desk.post("/documents/new", {**filled, "save": ""})
    assert told in text_of(writer_desk.get(made["Location"]))
    path = f"/documents/{Document.objects.get().id}"
    assert told not in text_of(writer_desk.get(path))
    form = read_form(writer_desk.get(f"{path}/edit"))
    saved = writer_desk.post(f"{path}/edit", {**form, "reference": "PO 8", "save": ""})
    assert told in text_of(writer_desk.get(saved["Location"]))


def test_saving_an_untouched_form_changes_only_the_version(writer_desk, filled):
    writer_desk.post("/documents/new", {**filled, "save": ""})
    draft = Document.objects.get()
    lines = list(draft.lines.values_list("unit_price", "discount_value", "net_amount"))
    path = f"/documents/{draft.id}/edit"
    answer = writer_desk.post(path, {**read_form(writer_desk.get(path)), "save": ""})
    assert answer.status_code == 302
    again = Document.objects.get()
    assert again.lock_version == 2
    assert again.grand_total == draft.grand_total
    assert list(again.lines.values_list("unit_price", "discount_value", "net_amount")) == lines


@pytest.mark.parametrize(
    ("pressed", "place"),
    [("add_line", "line-3"), ("remove_line", "line-1"), ("calculate", "totals")],
)
def test_the_answer_to_a_button_is_read_where_it_came_about(
    writer_desk, filled_twice, pressed, place
):
    form = filled_twice | {"line-TOTAL_FORMS": "2", "calculate": ""}
    page = writer_desk.post("/documents/new", form)
    leads_to = re.findall(rf'name="{pressed}"[^>]*formaction="[?]#([^"]+)"', text_of(page))
    answer = writer_desk.post("/documents/new", {**read_form(page), pressed: "0"})
    assert leads_to[0] == place
    assert f'id="{place}"' in text_of(answer)


def test_a_line_is_added_and_removed_without_losing_what_was_typed(writer_desk, filled):
    typed = {**filled, "line-0-unit_price": "1,234", "add_line": ""}
    added = writer_desk.post("/documents/new", typed)
    assert added.status_code == 200
    form = read_form(added)
    assert (form["line-TOTAL_FORMS"], form["line-0-unit_price"], form["line-1-description"]) == (
        "2",
        "1,234",
        "",
    )
    assert "errorlist" not in text_of(added)
    form["line-1-description"] = "Second"
    removed = read_form(writer_desk.post("/documents/new", {**form, "remove_line": "0"}))
    assert (removed["line-TOTAL_FORMS"], removed["line-0-description"]) == ("1", "Second")
    assert not Document.objects.exists()


def test_the_last_line_stays_and_a_hundred_are_the_most(writer_desk, filled):
    form = read_form(writer_desk.post("/documents/new", {**filled, "remove_line": "0"}))
    assert (form["line-TOTAL_FORMS"], form["line-0-description"]) == ("1", "")
    full = writer_desk.post("/documents/new", {**filled, "line-TOTAL_FORMS": "100", "add_line": ""})
    assert read_form(full)["line-TOTAL_FORMS"] == "100"
    assert "Add a line" not in text_of(full)
    assert "A draft has at most 100 lines." in text_of(full)


@pytest.mark.parametrize("lines", ["", "0", "-1", "x", "10000", "²"])
def test_an_odd_count_of_lines_is_no_mistake_of_the_server(writer_desk, filled, lines):
    answer = writer_desk.post(
        "/documents/new", {**filled, "line-TOTAL_FORMS": lines, "add_line": ""}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize("lines", [None, "1", "x"])
def test_no_line_is_left_out_whatever_the_form_says_of_their_number(
    writer_desk, filled_twice, lines
):
    form = filled_twice | {"line-TOTAL_FORMS": lines, "save": ""}
    writer_desk.post(
        "/documents/new", {name: text for name, text in form.items() if text is not None}
    )
    assert Document.objects.get().lines.count() == 2


def test_more_lines_than_a_hundred_are_refused_and_not_cut_off(writer_desk, filled):
    more = {
        name.replace("-0-", f"-{index}-"): typed
        for index in range(101)
        for name, typed in filled.items()
    }
    answer = writer_desk.post("/documents/new", {**more, "line-TOTAL_FORMS": "101", "save": ""})
    assert answer.status_code == 422
    assert "The lines must have at most 100 entries." in text_of(answer)
    assert read_form(answer)["line-100-description"] == "Consulting"
    assert not Document.objects.exists()


def test_calculate_shows_the_totals_and_saves_nothing(writer_desk, filled):
    answer = writer_desk.post("/documents/new", {**filled, "calculate": ""})
    assert answer.status_code == 200
    assert '<dd lang="de"> 16,86 € </dd>' in text_of(answer)
    assert not Document.objects.exists()


def test_only_customers_in_scope_can_be_chosen(sign_in, company, stranger):
    CustomerFactory.create(name="Hidden")
    CustomerFactory.create(name="Mine", account_managers=[stranger])
    CustomerFactory.create(name="Closed", account_managers=[stranger], is_active=False)
    text = text_of(sign_in(stranger).get("/documents/new"))
    assert "Mine" in text
    assert "Hidden" not in text
    assert "Closed" not in text


@pytest.mark.parametrize("issued", [True, False])
def test_what_cannot_be_changed_has_no_form(writer_desk, issued):
    document = make_issued() if issued else make_draft(document_type=DocumentType.CREDIT_NOTE)
    answer = writer_desk.get(f"/documents/{document.id}/edit")
    assert (answer.status_code, answer["Location"]) == (302, f"/documents/{document.id}")
    assert "/edit" not in main_of(writer_desk.get(f"/documents/{document.id}"))


def test_a_person_may_change_what_an_agent_prepared(
    writer_desk, writer, customer, agent, draft_body
):
    made = agent.call("drafts.create", draft_body, key="k").data
    path = f"/documents/{made['id']}/edit"
    writer_desk.post(path, {**read_form(writer_desk.get(path)), "reference": "Checked", "save": ""})
    seen = agent.call("documents.get", id=made["id"]).data
    assert (seen["reference"], seen["lock_version"]) == ("Checked", 2)
    assert seen["connection_id"] == made["connection_id"]
    assert Document.objects.get().status == DocumentStatus.DRAFT
