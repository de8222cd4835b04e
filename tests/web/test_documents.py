"""Reading documents: the list, a document's page, and the invoice that is printed."""

import re
from typing import Any

import pytest
from django.utils import timezone

from agent_access.approvals.models import ApprovalRequest, Decision
from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.decisions import issue_by_hand
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Document, DocumentType, TaxRate
from invoicing.search import records
from invoicing.services import issuing
from invoicing.services.issuing import issued_columns
from invoicing.totals import DiscountType
from tests.administration import ORIGIN
from tests.approvals import fingerprint_draft, prepare
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
    make_staff,
)
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


@pytest.fixture
def reader(company, sign_in):
    """The browser of somebody who may look at documents, and nothing else."""
    return sign_in(make_staff(Permission.VIEW_DOCUMENT))


def test_the_list_shows_the_newest_document_first(reader, customer):
    older, newer = make_draft(customer=customer), make_issued(customer=customer)
    text = text_of(reader.get("/documents"))
    assert text.index(str(newer)) < text.index(older.draft_code)
    assert "Acme Ltd" in text
    assert "€100.00" in text
    assert "Mar 2, 2026" in text


def test_who_may_edit_a_draft_and_not_issue_it_is_told(company, sign_in, customer):
    draft = make_draft(customer=customer)
    told = "Your account does not have the permission to issue it"
    writer = (Permission.VIEW_DOCUMENT, Permission.MANAGE)
    for permissions, is_told in [
        (writer, True),
        (writer[:1], False),
        ((*writer, Permission.FINALIZE), False),
    ]:
        page = text_of(sign_in(make_staff(*permissions)).get(f"/documents/{draft.id}"))
        assert (told in page) is is_told


def test_the_list_is_cut_into_pages_that_lead_on(reader, customer):
    made = [make_draft(customer=customer).draft_code for _ in range(26)]
    first = reader.get("/documents")
    assert made[-1] in text_of(first)
    assert made[0] not in text_of(first)
    second = text_of(reader.get("/documents" + first.context["listing"].next_href))
    assert made[0] in second
    assert made[1] not in second
    assert 'href="?">Newest' in second


def test_an_empty_list_says_what_there_is_none_of(reader):
    assert "There are no invoices yet." in text_of(reader.get("/documents"))
    make_draft()
    nothing = text_of(reader.get("/documents?status=issued"))
    assert "No issued document was found." in nothing


def test_the_list_is_searched_by_words_and_by_status(reader):
    acme = make_issued(customer=CustomerFactory.create(name="Acme Ltd"))
    draft = make_draft(customer=CustomerFactory.create(name="Acme Ltd"))
    other = make_issued(customer=CustomerFactory.create(name="Other Inc"))
    found = text_of(reader.get("/documents?search=acm&status=issued"))
    assert str(acme) in found
    assert draft.draft_code not in found
    assert str(other) not in found
    assert 'value="acm"' in found
    nothing = text_of(reader.get("/documents?search=nobody"))
    assert "Nothing was found for “nobody”." in nothing
    none = text_of(reader.get("/documents?search=nobody&status=draft"))
    assert "Nothing was found for “nobody”." in none


def test_a_page_on_which_nothing_was_found_says_no_more_than_that(reader, monkeypatch):
    monkeypatch.setattr(records, "STEPS_PER_CALL", 1)
    monkeypatch.setattr(records, "_STEPS_AT_ONCE", (1, 1))
    for name in ("Even Ltd", "Even Ltd", "Odd Ltd", "Odd Even Ltd"):
        make_draft(customer=CustomerFactory.create(name=name))
    first = reader.get("/documents?search=odd+even&status=draft")
    assert "Odd Even Ltd" in main_of(first)
    second = main_of(reader.get("/documents" + first.context["listing"].next_href))
    nothing = "Nothing was found in this part of the documents. You can continue with the next one."
    assert (nothing in second, ">Older</a>" in second) == (True, True)


def test_out_of_a_search_a_button_leads_back_to_all(reader):
    make_draft()
    button = '<a class="button" href="?">Show all</a>'
    for path in ("/documents?search=acme", "/documents?search=nobody&status=issued"):
        assert button in text_of(reader.get(path))
    assert button not in text_of(reader.get("/documents?status=draft"))


def test_the_list_is_narrowed_to_what_one_connection_made(reader):
    night, day = make_connection_ref("Night agent"), make_connection_ref("Day agent")
    many = [make_draft(connection=night).draft_code for _ in range(26)]
    issued, other = make_issued(connection=night), make_draft(connection=day)
    query = f"?connection={night.connection_id}"
    first = reader.get(f"/documents{query}")
    text = text_of(first)
    assert "Written by: Night agent" in text
    assert (str(issued) in text, many[-1] in text, other.draft_code in text) == (True, True, False)
    second = text_of(reader.get("/documents" + first.context["listing"].next_href))
    assert (many[0] in second, many[-1] in second) == (True, False)
    assert f'href="?status=issued&amp;writer={night.connection_id}"' in text
    of_status = text_of(reader.get(f"/documents{query}&status=issued"))
    assert (str(issued) in of_status, many[-1] in of_status) == (True, False)
    assert f'href="?writer={night.connection_id}"' in of_status  # All keeps to the connection
    found = text_of(reader.get(f"/documents{query}&search={many[3]}"))
    assert (many[3] in found, many[4] in found) == (True, False)
    elsewhere = text_of(reader.get(f"/documents{query}&search={other.draft_code}"))
    assert "Nothing was found for" in elsewhere
    nothing = text_of(reader.get("/documents?connection=0190f1f0-0000-7000-8000-000000000000"))
    assert "Written by: one agent" in nothing
    assert "No document was found." in nothing


def test_what_a_connection_made_is_shown_within_the_readers_reach(company, sign_in, customer):
    agents = make_connection_ref("Ledger agent")
    mine = make_draft(connection=agents, customer=customer)
    hidden = make_draft(connection=agents)
    manager = UserFactory.create(permissions=[Permission.VIEW_DOCUMENT])
    customer.account_managers.add(manager)
    text = text_of(sign_in(manager).get(f"/documents?connection={agents.connection_id}"))
    assert (mine.draft_code in text, hidden.draft_code in text) == (True, False)


@pytest.mark.parametrize(
    "query", ["after=x", "connection=x", "after=%00", "status=paid", "search=" + "x" * 200]
)
def test_an_odd_address_of_the_list_is_no_mistake(reader, query):
    assert reader.get(f"/documents?{query}").status_code == 200


def test_what_an_agent_issued_says_for_whom_and_who_approved_it(
    reader, connect, delegate, customer
):
    _, agent = connect(delegate, name="Ledger agent")
    draft = make_draft(customer=customer)
    page = f"/documents/{draft.id}"
    assert "by hand" not in text_of(reader.get(page))
    asked = agent.call(
        "documents.issue_prepare", {"lock_version": 1}, id=draft.id, key="prepare"
    ).data
    ApprovalRequest.objects.update(decision=Decision.APPROVED, decided_at=timezone.now())
    nonce = {"nonce": asked["nonce"]}
    agent.call("documents.issue", nonce, id=asked["approval_id"], key="execute")
    assert "by the agent “Ledger agent”, approved by Dana Delegate." in text_of(reader.get(page))
    issued = Document.objects.get()
    assert (issued.issued_by, issued.created_by) == (delegate, draft.created_by)
    assert issued.created_by != delegate


def test_what_was_issued_by_hand_says_by_whom(reader, delegate, draft):
    """Whatever an agent asked of the same document, or issued of another one."""
    issuer = make_staff(*ISSUE_PERMISSIONS, name="Isa Issuer")
    prepare(draft, user=delegate).decide()
    other = prepare(make_draft(customer=draft.customer), user=delegate)
    other.decide()
    other.execute()
    shown = fingerprint_draft(draft)
    issue_by_hand(issuer, draft.pk, fingerprint=shown, origin=ORIGIN, clock=at(ISSUED_AT))
    said = text_of(reader.get(f"/documents/{draft.id}"))
    assert " by Isa Issuer, by hand. Written by Dana Delegate." in said


def test_what_was_issued_before_that_was_kept_says_that_it_was_by_hand(reader, monkeypatch):
    def freeze(*facts: Any, **more: Any) -> dict[str, Any]:
        return issued_columns(*facts, **more) | {"issued_by_id": None}

    monkeypatch.setattr(issuing, "issued_columns", freeze)
    assert "by hand. Written by" in text_of(reader.get(f"/documents/{make_issued().id}"))


def test_a_line_names_its_tax_where_two_of_the_document_have_one_percentage(reader):
    """Only by the name one tells an export from a reverse charge: both are 0 %."""

    def taxes_of(*names: str) -> list[str]:
        rates = [
            TaxRateFactory.create(name=name, percentage_ten_thousandths=percentage * SCALE)
            for name, percentage in (*((name, 0) for name in names), ("VAT", 19))
        ]
        draft = make_draft(lines=tuple(line_input(tax_rate_id=rate.id) for rate in rates))
        page = main_of(reader.get(f"/documents/{draft.id}"))
        cells = re.findall(r'data-label="Tax">(.*?)</td>', page)
        return [re.sub(r"<[^>]*>", "", cell) for cell in cells]

    assert taxes_of("Export") == ["0%", "19%"]
    assert taxes_of("Export", "Reverse charge") == ["0% Export", "0% Reverse charge", "19%"]


def test_a_draft_made_by_an_agent_names_the_connection(reader):
    draft = make_draft(connection=make_connection_ref("Ledger agent"))
    assert "By agent: </span>Ledger agent" in text_of(reader.get("/documents"))
    page = text_of(reader.get(f"/documents/{draft.id}"))
    assert "Written by the agent “Ledger agent” for" in page
    own = make_draft()
    assert "by the agent" not in text_of(reader.get(f"/documents/{own.id}"))


def make_rich_invoice(language: str = "en") -> Document:
    rate = TaxRateFactory.create(name="VAT")
    line = line_input(
        quantity=15 * SCALE // 10,
        unit="h",
        unit_price=123450,
        discount_type=DiscountType.PERCENT,
        discount_value=1000,
        tax_rate_id=rate.id,
    )
    plain = line_input(description="Postage", quantity=SCALE, unit_price=500)
    return make_issued(
        customer=CustomerFactory.create(name="Acme Ltd"),
        lines=(line, plain),
        language=language,
        reference="PO 7",
        notes="Thank you.\nSee you soon.",
    )


def test_an_issued_invoice_says_all_that_an_invoice_should(reader):
    invoice = make_rich_invoice()
    text = text_of(reader.get(f"/documents/{invoice.id}"))
    for expected in [
        f"<title>{invoice.number} · Invoicing</title>",
        "Halden Works",
        "Harbour Street 1",
        "DE136695976",
        "Acme Ltd",
        "NL004495445B01",
        "March 2, 2026",
        "April 1, 2026",
        "PO 7",
        "1.5 h",
        "1,234.50",
        "10% = 185.18",
        "1,666.57",
        "Postage",
        "VAT 19%",
        "€1,671.57",
        "€316.65",
        "€1,988.22",
        "IBAN DE02 1203 0000 0000 2020 51",
        "BIC BYLADEM1001",
        "Thank you.<br>See you soon.",
    ]:
        assert expected in text, expected


def test_an_invoice_is_written_in_its_own_language(reader):
    text = text_of(reader.get(f"/documents/{make_rich_invoice('de').id}"))
    for expected in ["Rechnung", "Gesamtbetrag", "2. März 2026", "1,5 h", "10\xa0% = 185,18"]:
        assert " ".join(expected.split()) in text, expected
    assert "1.988,22 €" in text


def test_the_list_says_everything_in_one_language(reader, customer):
    make_draft(customer=customer, language="de")
    page = text_of(reader.get("/documents"))
    assert "Mar 2, 2026" in page
    assert re.findall(r'lang="(\w+)"', page) == ["en"]


def test_an_issued_invoice_shows_what_was_frozen(reader):
    invoice = make_rich_invoice()
    before = main_of(reader.get(f"/documents/{invoice.id}"))
    invoice.customer.name = "Renamed"
    invoice.customer.save()
    Company.objects.update(name="Sold", iban="GB82WEST12345698765432", bic="")
    TaxRate.objects.update(name="Changed", percentage_ten_thousandths=1)
    assert main_of(reader.get(f"/documents/{invoice.id}")) == before


def test_the_list_names_the_buyer_of_an_invoice_as_they_were_frozen(reader, customer):
    make_issued(customer=customer)
    make_draft(customer=customer)
    customer.name = "Renamed Ltd"
    customer.save()
    page = text_of(reader.get("/documents"))
    assert re.findall(r"Acme Ltd|Renamed Ltd", page) == ["Renamed Ltd", "Acme Ltd"]


def test_a_draft_shows_neither_bank_details_nor_a_number(reader):
    text = text_of(reader.get(f"/documents/{make_draft().id}"))
    assert "IBAN" not in text
    assert "(Draft)" in text


def test_internal_notes_are_on_no_page(reader):
    draft = make_draft()
    Document.objects.update(internal_notes="between us")
    assert "between us" not in text_of(reader.get(f"/documents/{draft.id}"))


def test_a_credit_note_is_called_one(reader):
    note = make_draft(document_type=DocumentType.CREDIT_NOTE)
    assert "Credit note" in text_of(reader.get("/documents"))
    shown = text_of(reader.get(f"/documents/{note.id}"))
    assert "Credit note" in shown
    assert "A credit note cannot be edited here." in shown


def test_a_document_out_of_scope_is_like_one_that_is_missing(company, sign_in, stranger):
    hidden = sign_in(stranger).get(f"/documents/{make_draft().id}")
    missing = sign_in(stranger).get(f"/documents/{company.id}")
    assert hidden.status_code == missing.status_code == 404
    assert main_of(hidden) == main_of(missing)
    assert "There is nothing here" in main_of(hidden)
