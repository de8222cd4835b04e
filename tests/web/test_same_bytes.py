"""What is kept, told to programs or taken out is the same, in whichever language a person reads.

In the language of these tests each translated text differs from the English one.
"""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent
from invoicing.e_invoices.kinds import Kind
from invoicing.models import Company, Customer, DatevSettings, Document
from invoicing.services.drafts import ConnectionRef
from tests.approvals import prepare
from tests.factories import CustomerFactory, make_draft, make_issued
from tests.invoicing.exports.files import download
from tests.stretched import LANGUAGE, offer, speak
from tests.web.forms import main_of, read_form
from tests.web.reviews import path_of, send

LANGUAGES = ("en", LANGUAGE)
OF_ITS_OWN = {"id", "name", "created_at", "updated_at"}
# Of a draft or its facts, which are others each time.
ID = re.compile(r"[0-9a-f-]{32,}")


@pytest.fixture(autouse=True)
def _stretched(tmp_path: Path, settings: Any) -> None:
    offer(settings, tmp_path)


def test_the_language_is_one_in_which_pages_differ(desk, delegate):
    shown = []
    for language in LANGUAGES:
        speak(delegate, language)
        shown.append(main_of(desk.get("/account")))
    assert shown[0] != shown[1]


@pytest.mark.parametrize("kind", ["documents", "lines"])
def test_an_export_has_the_same_bytes(desk, delegate, customer, kind):
    make_issued(customer=customer)
    files = []
    for language in LANGUAGES:
        speak(delegate, language)
        files.append(download(desk, kind))
    assert files[0] == files[1]
    assert b"Invoice" in files[0]


def test_the_index_of_originals_tells_the_same_of_what_is_missing(desk, delegate):
    make_issued(customer=CustomerFactory.create(name="Berg", e_invoice=Kind.PEPPOL))
    indexes = []
    for language in LANGUAGES:
        speak(delegate, language)
        with zipfile.ZipFile(io.BytesIO(download(desk, "originals"))) as files:
            indexes.append(files.read("index.csv"))
    assert indexes[0] == indexes[1]
    assert b"A line without a tax rate has no category yet." in indexes[0]


def test_bookings_are_the_same(desk, delegate, time_machine):
    time_machine.move_to("2026-04-02T09:00:00+00:00", tick=False)
    Company.objects.update(untaxed_category="O")
    DatevSettings.objects.create(adviser=1001, client=42, accounts={"O": "8338"})
    make_issued(customer=CustomerFactory.create(name="Berg", customer_number="10017"))
    files = []
    for language in LANGUAGES:
        speak(delegate, language)
        files.append(download(desk, "datev"))
    assert files[0] == files[1]


def test_a_customer_that_a_person_writes_is_kept_and_audited_the_same(desk, delegate):
    kept = []
    for language in LANGUAGES:
        speak(delegate, language)
        form = read_form(desk.get("/customers/new"))
        typed = {
            "name": f"Berg {language}",
            "country": "DE",
            "language": "de",
            "currency_code": "EUR",
        }
        assert desk.post("/customers/new", {**form, **typed}).status_code == 302
        customer = Customer.objects.latest("pk")
        path = f"/customers/{customer.pk}/edit"
        form = read_form(desk.get(path))
        assert desk.post(path, {**form, "payment_days": "14"}).status_code == 302
        row = Customer.objects.values().get(pk=customer.pk)
        events = AuditEvent.objects.filter(target=str(customer.pk)).order_by("pk")
        kept.append(
            (
                {name: value for name, value in row.items() if name not in OF_ITS_OWN},
                list(events.values_list("action", "outcome", "detail", "transport")),
            )
        )
    assert kept[0] == kept[1]
    assert [event[0] for event in kept[0][1]] == ["customer:created", "customer:changed"]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_decision_is_kept_the_same(desk, delegate, customer, connection, decision):
    kept, agent = [], ConnectionRef(connection.pk, "Ledger agent")
    for language in LANGUAGES:
        speak(delegate, language)
        asked = prepare(make_draft(customer=customer), user=delegate, connection=agent)
        assert asked.approval.fingerprint in desk.get(path_of(asked)).content.decode()
        answer = send(desk, asked, decision, reason="too much")
        row = ApprovalRequest.objects.get(pk=asked.approval.pk)
        events = AuditEvent.objects.filter(request_id=answer["X-Request-Id"])
        kept.append(
            [
                (row.kind, row.decision, row.rejection_reason, row.demand, row.result),
                [
                    (each.action, each.outcome, ID.sub("", each.detail), each.transport)
                    for each in events
                ],
            ]
        )
    assert kept[0] == kept[1]
    assert kept[0][0][1]


def test_a_draft_that_a_person_writes_is_kept_the_same(writer_desk, writer, filled):
    kept = []
    for language in LANGUAGES:
        speak(writer, language)
        assert writer_desk.post("/documents/new", {**filled, "save": ""}).status_code == 302
        document = Document.objects.latest("pk")
        own = {"id", "created_at", "updated_at", "draft_code"}
        values = {name: value for name, value in vars(document).items() if name not in own}
        kept.append({name: value for name, value in values.items() if not name.startswith("_")})
    assert kept[0] == kept[1]


def test_an_issued_document_looks_the_same_on_its_paper(desk, delegate, customer):
    def paper_of(browser: Client) -> str:
        page: str = browser.get(f"/documents/{issued.pk}").content.decode()
        return page.split('class="card paper', 1)[1].split("</article>", maxsplit=1)[0]

    issued = make_issued(customer=customer, language="de")
    papers = []
    for language in LANGUAGES:
        speak(delegate, language)
        papers.append(paper_of(desk))
    assert papers[0] == papers[1]
    assert "Rechnung" in papers[0]
