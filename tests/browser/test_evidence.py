"""An auditor from the owner's form to the last day, in a real browser; and the pages, looked at."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from invoicing.administration.sign_ins import make_code
from invoicing.models import Document, User
from tests.administration import acting
from tests.agent_access.tampering import without_triggers
from tests.browser.inspection import follow, inspect
from tests.evidence_of_agents import issue_by_agent, keep_pdf
from tests.factories import PASSWORD, CustomerFactory, give_password, make_auditor, make_issued

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


@pytest.fixture
def issued(agent, draft_body) -> Document:
    make_issued(customer=CustomerFactory.create(name="Nordwind GmbH"))
    document = issue_by_agent(agent, draft_body)
    keep_pdf(document, b"%PDF-1.7 for a test")
    return document


def test_the_owner_makes_an_auditor_who_finds_and_reads_an_invoice(open_page, superuser, issued):
    last_day = timezone.now().date() + timedelta(days=30)
    admin = open_page("/admin/invoices/user/add/", superuser)
    admin.get_by_label("Name:", exact=True).fill("Ute Auditor")
    admin.get_by_label("Work e-mail").fill("ute@audit.example")
    admin.get_by_label("Is guest").check()
    admin.get_by_label("Audits until").fill(str(last_day))
    inspect(admin, "auditor-made")
    admin.get_by_role("button", name="Save").first.click()
    expect(admin.get_by_text("this needs your password as well.")).to_be_visible()
    inspect(admin, "auditor-to-confirm")
    admin.get_by_label("Your own password").fill(PASSWORD)
    follow(admin.get_by_role("button", name="Save").first)
    ute = User.objects.get(email="ute@audit.example")
    code = make_code(acting(superuser), ute.pk)

    page = open_page(f"/set-password#{code}")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    follow(page.get_by_role("button", name="Set the password"))
    follow(page.get_by_role("link", name="Not now"))  # choosing a language and a time zone
    expect(page).to_have_url("https://invoices.example/evidence")
    inspect(page, "evidence-list")
    page.get_by_label("Number, draft code").fill(str(issued.number))
    follow(page.get_by_role("button", name="Search"))
    inspect(page, "evidence-search")
    follow(page.get_by_role("link", name=str(issued.number)))
    page.get_by_text("Event 1 of the chain").click()
    expect(page.get_by_text("drafts.create")).to_be_visible()
    inspect(page, "evidence")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download PDF").click()
    assert download.value.suggested_filename == f"{issued.number}.pdf"


def test_what_does_not_agree_stands_out(open_page, owner, issued):
    with without_triggers("invoices"):
        Document.objects.filter(pk=issued.pk).update(buyer_name="Mallory Ltd")
    page = open_page(f"/documents/{issued.pk}", owner)
    page.goto(f"/evidence/{issued.pk}")
    expect(page.get_by_text("Does not agree").first).to_be_visible()
    inspect(page, "evidence-forged")


def test_after_the_last_day_there_is_a_sentence(open_page, company):
    auditor = make_auditor(timezone.now().date() - timedelta(days=1), name="Ute Auditor")
    give_password(auditor)
    page = open_page("/evidence", auditor)
    expect(page.get_by_role("heading", name="Your time as an auditor is over")).to_be_visible()
    inspect(page, "auditor-over")
    follow(page.get_by_role("button", name="Sign out"))
    expect(page).to_have_url("https://invoices.example/sign-in")
