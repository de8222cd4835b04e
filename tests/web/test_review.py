"""The review page: exactly what would be issued, and how it stands."""

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from agent_access.connections import revoke_connection
from agent_access.models.connections import Connection, RevokedReason
from invoicing.identifiers import new_id
from invoicing.models import Company, Customer
from invoicing.pdf import making
from invoicing.services.drafts import ConnectionRef
from tests.approvals import PREPARED_AT, TEN_MINUTES_LATER, prepare
from tests.factories import line_input, make_draft, make_issued
from tests.interface.refusals import nothing_changes
from tests.web.forms import text_of
from tests.web.reviews import path_of, read, send

pytestmark = pytest.mark.sqlite  # what is shown was read before, on both databases

DAY = timedelta(days=1)

# What approvals were prepared with at first, and are kept with for good: what documents say only
# since then, such as where to pay, is missing.
FIRST_FACTS = Path(__file__).with_name("first_facts.json").read_text(encoding="utf-8")


def test_the_page_shows_exactly_what_would_be_issued(desk, prepared):
    answer = desk.get(path_of(prepared))
    page = read(answer)

    assert answer.status_code == 200
    for shown in (
        "Issue this invoice? €119.00 to Acme Ltd Prepared for you",
        "by the agent Ledger agent on March 2, 2026, 09:00 UTC",
        f"draft {prepared.document.draft_code} , version 1, in English",
        "9 min 0 s left, until 09:10:00 UTC",
        "Issue date March 2, 2026 Date of supply as issue date Due date April 1, 2026 Currency EUR",
        "From Halden Works Harbour Street 1 20457 Hamburg Germany VAT number DE136695976",
        "To Acme Ltd Mill Lane 7 1011 AB Amsterdam Netherlands VAT number NL004495445B01",
        "Consulting 2 50.00 19% 100.00",
        "Net total €100.00 VAT standard 19% on €100.00 €19.00 Tax total €19.00 Total €119.00",
        "Notes Thank you. Bank details IBAN DE02 1203 0000 0000 2020 51 BIC BYLADEM1001",
        "Issuing cannot be undone.",
    ):
        assert shown in page
    assert re.findall(r"<button[^>]*>([^<]*)", answer.content.decode().split("<main")[1]) == [
        "Approve issue",
        "Reject",
        "",  # of the keys, which a script shows
    ]


def test_of_the_time_left_a_begun_second_counts(desk, prepared, clock):
    clock.move_to(TEN_MINUTES_LATER - timedelta(seconds=59.5), tick=False)
    assert "1 min 0 s left, until" in read(desk.get(path_of(prepared)))


def test_the_draft_is_a_click_away(desk, prepared):
    document = prepared.document
    link = f'<a class="number" href="/documents/{document.id}">{document.draft_code}</a>'
    assert link in desk.get(path_of(prepared)).content.decode()


def test_looking_never_decides(desk, prepared):
    with nothing_changes():
        decided = f"?decision=approve&fingerprint={prepared.approval.fingerprint}"
        for method in (desk.get, desk.head):
            assert method(path_of(prepared) + decided).status_code == 200
        for method in (desk.put, desk.delete, desk.patch, desk.options):
            assert method(path_of(prepared) + decided).status_code == 405


def test_after_the_execution_the_page_gives_the_number_and_a_link(desk, prepared):
    prepared.decide()
    prepared.execute()
    answer = desk.get(path_of(prepared))

    assert "issued it on March 2, 2026, 09:01 UTC with the number INV-2026-0001" in read(answer)
    assert f'href="/documents/{prepared.approval.target}"' in answer.content.decode()


def test_the_paper_has_the_number_only_where_this_very_request_gave_it(desk, prepared):
    other = prepare(prepared.document, user=prepared.user)
    other.decide()
    other.execute()
    number = '<p class="paper-number">INV-2026-0001</p>'
    assert number in desk.get(path_of(other)).content.decode()
    assert number not in desk.get(path_of(prepared)).content.decode()


def test_an_approval_that_ran_out_says_that_nothing_was_issued(desk, prepared, clock):
    prepared.decide()
    clock.move_to(TEN_MINUTES_LATER, tick=False)
    page = read(desk.get(path_of(prepared)))

    assert "You approved it on March 2, 2026, 09:01 UTC, but the agent did not" in page
    assert "Nothing was issued by this request." in page


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_changed_draft_shows_what_changed_and_cannot_be_decided(desk, prepared, decision):
    Customer.objects.update(name="Acme Limited")
    with nothing_changes():
        shown = read(desk.get(path_of(prepared)))
        answer = send(desk, prepared, decision)

        assert "The draft has changed" in shown
        assert "Customer Acme Ltd Acme Limited" in shown
        assert "ask the agent to prepare the issue again" in shown
        assert "Approve issue" not in shown
        assert answer.status_code == 409


def test_other_bank_details_than_were_shown_are_a_change(desk, prepared):
    prepared.decide()
    Company.objects.update(iban="GB82WEST12345698765432", bic="")
    page = read(desk.get(path_of(prepared)))
    assert "The draft has changed" in page
    assert (
        "Bank details DE02 1203 0000 0000 2020 51 BYLADEM1001 GB82 WEST 1234 5698 7654 32" in page
    )


def test_what_was_prepared_by_the_first_release_is_still_shown(desk, prepared):
    former = prepare(make_draft(user=prepared.user), user=prepared.user).approval
    former.pk, former.facts = new_id(), FIRST_FACTS
    former.save(force_insert=True)
    answer = desk.get(f"/approvals/{former.pk}")
    page = read(answer)
    assert answer.status_code == 200
    for shown in (
        "From Halden Works",
        "Reference PO 7",
        "Consulting 1.5 h 10.50",
        "Notes Thank you.",
    ):
        assert shown in page


def test_after_the_connection_ended_nothing_is_promised(desk, prepared, connection):
    undecided = "has ended, so the agent can no longer issue the invoice, whatever you decide."
    approved = "has ended: the agent can no longer issue it. Nothing was issued by this request."
    promised = "The agent can issue exactly what is shown here"
    meant = "The agent may issue exactly this invoice"
    offered = "Approve issue"

    def texts() -> list[str]:
        page = read(desk.get(path_of(prepared)))
        return [text for text in (undecided, approved, promised, meant, offered) if text in page]

    assert texts() == [meant, offered]
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    assert texts() == [undecided]
    page = read(desk.get(path_of(prepared)))
    assert "The agent can no longer issue this" in page
    assert "Approve issue" not in page
    Connection.objects.update(revoked_at=None, revoked_reason="")
    assert send(desk, prepared, "approve").status_code == 302
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    assert texts() == [approved]


def test_warnings_stand_on_the_page(desk, prepared, customer, tax_rate):
    lines = (line_input(tax_rate_id=tax_rate.id),)
    issued = make_issued(customer=customer, lines=lines, issue_date=PREPARED_AT.date() + 3 * DAY)
    answer = desk.get(path_of(prepared))
    page = read(answer)
    assert "An invoice with the same total was issued to this customer on March 2, 2026" in page
    assert f'<a href="/documents/{issued.id}">{issued.number}</a>' in answer.content.decode()
    assert "The last document of this series has a later issue date: March 5, 2026." in page
    assert send(desk, prepared, "approve").status_code == 302, "a warning forbids nothing"


def test_a_draft_that_looks_the_same_is_named_while_it_may_be_issued_too(desk, clock, delegate):
    drafts = [make_draft(user=delegate, issue_date=PREPARED_AT.date() + 3 * DAY)]
    drafts.append(make_draft(user=delegate, customer=drafts[0].customer))
    one, other = (prepare(draft, user=delegate) for draft in drafts)
    page, link = read(desk.get(path_of(one))), drafts[1].draft_code
    asked = "You are also asked to issue another draft with the same total for this customer:"
    assert f"{asked} {link} ." in page
    assert "The issue date is in the future: March 5, 2026." in page
    assert f'<a href="{path_of(other)}">{link}</a>' in desk.get(path_of(one)).content.decode()
    other.decide()
    assert "You approved the issue of another draft with the same total" in read(
        desk.get(path_of(one))
    )


def test_a_look_alike_is_not_named_once_its_connection_has_ended(desk, clock, delegate, connection):
    draft = make_draft(user=delegate)
    alike = make_draft(user=delegate, customer=draft.customer)
    maker = ConnectionRef(connection.id, connection.name)
    one, other = prepare(draft, user=delegate), prepare(alike, user=delegate, connection=maker)
    other.decide()
    assert alike.draft_code in read(desk.get(path_of(one)))
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    assert alike.draft_code not in read(desk.get(path_of(one)))


def test_what_the_invoice_lacks_stands_on_the_page(desk, clock, delegate, customer, tax_rate):
    Company.objects.update(street="", postcode="", city="", country="", vat_number="")
    draft = make_draft(customer=customer, lines=(line_input(tax_rate_id=tax_rate.id),))
    answer = desk.get(path_of(prepare(draft, user=delegate)))
    page = read(answer)
    assert "<strong>Halden Works</strong> </p>" in text_of(answer)  # and no empty line
    assert "The street of your company is missing." in page
    assert "Your company has neither a VAT number nor a tax number." in page
    assert "The address of the customer is missing." not in page


def test_a_line_whose_tax_was_forgotten_stands_on_the_page(desk, clock, delegate, customer):
    draft = make_draft(customer=customer, lines=(line_input(),))
    page = read(desk.get(path_of(prepare(draft, user=delegate))))
    assert "Lines without tax give no reason: choose a rate of 0 % instead, or say what" in page


def test_characters_that_no_font_has_stand_on_the_page(desk, clock, delegate):
    draft = make_draft(user=delegate, notes="Thanks \N{RECEIPT}")
    page = read(desk.get(path_of(prepare(draft, user=delegate))))
    assert "No installed font has these characters: \N{RECEIPT} (U+1F9FE). With them there" in page


def test_whether_a_page_is_outdated_is_known_without_a_pdf(desk, clock, delegate, monkeypatch):
    monkeypatch.setattr(making, "PATIENCE", 0.01)
    draft = make_draft(user=delegate, notes="Thanks \N{RECEIPT}")
    path = path_of(prepare(draft, user=delegate))
    page = desk.get(path)
    with making._turns, making._turns:  # while others make as many PDFs as may be made at once
        version = desk.get(f"{path}/version").json()["version"]
        later = desk.get(path)
    for each, told in (
        (page, "No installed font has these characters: \N{RECEIPT} (U+1F9FE)."),
        (later, "It could not be checked whether the installed fonts have all characters"),
    ):
        assert f'data-version="{version}"' in each.content.decode()
        assert told in text_of(each)


def test_dates_that_are_surely_mistyped_stand_on_the_page(desk, clock, delegate):
    draft = make_draft(user=delegate, issue_date=date(26, 3, 2), due_date=date(2062, 3, 2))
    page = read(desk.get(path_of(prepare(draft, user=delegate))))
    assert "The issue date is not in the current year: 0026." in page
    assert "The due date is more than a year after the issue date: March 2, 2062." in page


def test_only_what_is_unusual_is_warned_of(desk, prepared, customer):
    last_year = PREPARED_AT.date() - 90 * DAY
    unusual = prepare(
        make_draft(user=prepared.user, customer=customer, issue_date=last_year), user=prepared.user
    )
    other_year = "The issue date is not in the current year"
    later = "The last document of this series has a later issue date"
    pages = [read(desk.get(path_of(each))) for each in (prepared, unusual)]
    assert [(other_year in page, later in page) for page in pages] == [
        (False, False),
        (True, False),
    ]


def test_a_customer_that_only_looks_alike_is_said_to_be_another(desk, prepared):
    facts = ("name", "street", "postcode", "city", "country", "vat_number")
    [alike] = Customer.objects.values(*facts)
    prepared.document.customer = Customer.objects.create(**alike)
    prepared.document.save(update_fields=["customer"])
    page = read(desk.get(path_of(prepared)))
    assert "The draft has changed" in page
    assert "It now refers to another customer or tax rate that reads the same" in page
