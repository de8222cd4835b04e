"""The owner takes a package of evidence out of the audit, in a real browser; and the page."""

import pytest
from playwright.sync_api import expect

from agent_access.evidence.verify_evidence import verify
from agent_access.models import AuditEvent
from tests.browser.inspection import follow, inspect
from tests.factories import PASSWORD, give_password

# A page looks and acts the same on both databases; tests/admin/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


def test_the_owner_downloads_a_package_with_their_password(open_page, owner, agent, tmp_path):
    agent.call("tools.list")
    give_password(owner)
    page = open_page("/admin/agent_access/auditevent/", owner)
    inspect(page, "events-with-evidence")
    follow(page.get_by_role("link", name="Export evidence"))
    inspect(page, "evidence-export")
    page.get_by_label("Your own password").fill("wrong")
    page.get_by_role("button", name="Download the evidence").click()
    expect(page.get_by_text("This is not your password.")).to_be_visible()
    inspect(page, "evidence-export-mended")

    page.get_by_label("Your own password").fill(PASSWORD)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the evidence").click()
    file = tmp_path / "evidence.zip"
    download.value.save_as(file)
    assert verify(str(file), None, None)[1] == 0
    assert AuditEvent.objects.filter(action="export:finished", target="evidence").count() == 1

    with page.expect_download() as program:
        page.get_by_role("link", name="verify_evidence.py").click()
    assert program.value.suggested_filename == "verify_evidence.py"
