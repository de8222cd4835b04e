"""A stranger's walk: from an empty database to a lawful invoice, by pages and pasted lines only.

SCREENSHOT_FOLDER keeps a picture of each step. The walk counts pages and clicks, and prints them
with the time it took; nothing is asserted about the time.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from agent_access.models import AuditEvent
from invoicing.models import Company, Customer, Document, TaxRate, User
from tests.agents import HOST
from tests.browser.inspection import find_violations, fits
from tests.browser.server import Served
from tests.factories import PASSWORD

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # A page looks and acts the same on both databases; tests/web/ asks both.
    pytest.mark.sqlite,
    pytest.mark.skipif(not shutil.which("curl"), reason="the lines to paste need curl"),
]

COMPANY = {
    "Name": "Halden Works",
    "Street": "Harbour Street 1",
    "Postcode": "20457",
    "City": "Hamburg",
    "VAT number": "DE136695976",
    "IBAN": "DE02120300000000202051",
}
CUSTOMER = {
    "Name": "Acme Ltd",
    "Street": "Mill Lane 7",
    "Postcode": "10115",
    "City": "Berlin",
}
DONE = "--- done ---"
READ = "path => fetch(path).then(answer => answer.text()).then(text => text.slice(0, 5))"
# So many pages and clicks at most: whoever adds more of them says why.
MOST_PAGES, MOST_CLICKS = 20, 24


class Walk:
    """What the stranger does in the browser: each step is counted, looked at, and kept."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pages = self.clicks = self.pictures = 0
        self.began = time.monotonic()
        page.on("load", self._count_page)

    def _count_page(self, _: Page) -> None:
        self.pages += 1

    def click(self, name: str, *, role: str = "button", within: Locator | None = None) -> None:
        self.clicks += 1
        place = within or self.page.get_by_role("main")
        with self.page.expect_navigation():
            place.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]  # a link or a button

    def fill(self, values: dict[str, str]) -> None:
        for label, value in values.items():
            self.field(label).fill(value)

    def field(self, label: str) -> Locator:
        """Return the field of this label, behind which the administration writes a colon."""
        return self.page.get_by_label(re.compile(f"^{re.escape(label)}:?$")).first

    def go_home(self) -> None:
        self.click("Invoicing", role="link", within=self.page.get_by_role("banner"))

    def look(self, name: str) -> None:
        """Keep a picture of this step, which fits and is accessible."""
        self.pictures += 1
        assert fits(self.page), name
        assert find_violations(self.page) == [], name
        if folder := os.environ.get("SCREENSHOT_FOLDER"):
            path = Path(folder, f"walk-{self.pictures:02d}-{name}.png")
            self.page.screenshot(path=path, full_page=True)

    def tell(self) -> str:
        seconds = time.monotonic() - self.began
        return f"{self.pages} pages, {self.clicks} clicks, {seconds:.0f} seconds"


class Shell:
    """A shell into which the lines of a page are pasted, as they stand there."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def paste(self, lines: str) -> list[str]:
        """Return what the lines print."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{lines}\necho '{DONE}'\n")
        self._process.stdin.flush()
        printed: list[str] = []
        for line in self._process.stdout:
            if line.strip() == DONE:
                return printed
            printed.append(line.rstrip("\n"))
        raise AssertionError(printed)


@pytest.fixture
def shell(served: Served, tmp_path: Path) -> Iterator[Shell]:
    """A shell whose curl finds the host of the pages at the server of this test run."""
    rules = f'connect-to = "{HOST}:443:127.0.0.1:{served.port}"\ninsecure\n'
    (tmp_path / ".curlrc").write_text(rules)
    with _started(tmp_path) as process:
        yield Shell(process)


@contextmanager
def _started(folder: Path) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        ["/bin/sh"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"CURL_HOME": str(folder)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def begin(open_page: object) -> Walk:
    """The operator's only line: it prints the link that the stranger opens."""
    printed = StringIO()
    call_command("setup", "olivia@halden.example", name="Olivia Owner", stdout=printed)
    [link] = re.findall(r"https://\S+", printed.getvalue())
    page: Page = open_page(link.removeprefix(f"https://{HOST}"))  # type: ignore[operator]  # a fixture's function
    return Walk(page)


def test_a_stranger_gets_from_an_empty_database_to_a_lawful_invoice(open_page, shell, capsys):
    walk = begin(open_page)
    page = walk.page
    choose_a_password(walk)
    add_the_company(walk)
    take_the_rates(walk)
    expect(page.get_by_text("The next invoice is INV-")).to_be_visible()
    expect(page.get_by_text("Only you may approve invoices.")).to_be_visible()
    add_a_customer(walk)
    turn_access_on(walk)
    lines = connect(walk)
    before, execute = lines.split("echo 'Execute", 1)
    printed = shell.paste(before)
    review = printed[-1] if printed[-1].startswith("https://") else printed[-2]
    approve(walk, review)
    shell.paste(f"echo 'Execute{execute}")
    look_at_the_invoice(walk)
    with capsys.disabled():
        sys.stdout.write(f"\nThe stranger's walk: {walk.tell()}\n")
    assert walk.pages <= MOST_PAGES
    assert walk.clicks <= MOST_CLICKS


def choose_a_password(walk: Walk) -> None:
    walk.look("password")
    walk.fill({"New password": PASSWORD, "Repeat the password": PASSWORD})
    walk.click("Set the password")
    walk.look("language-and-time-zone")
    walk.click("Continue")
    expect(walk.page.get_by_text("you are signed in")).to_be_visible()
    expect(walk.page.get_by_role("heading", name="Next: Company")).to_be_visible()
    walk.look("home")


def add_the_company(walk: Walk) -> None:
    walk.click("Start", role="link")
    walk.fill(COMPANY)
    walk.field("Country").select_option(label="Germany")
    walk.look("company")
    walk.click("Save")
    told = "You added Halden Works, and are its owner now"
    expect(walk.page.get_by_role("status").filter(has_text=told)).to_be_visible()
    assert Company.objects.get().owner == User.objects.get()
    walk.look("company-added")


def take_the_rates(walk: Walk) -> None:
    walk.click("Start Tax rates", role="link")
    walk.look("rates")
    walk.click("Use these rates")
    expect(walk.page.get_by_text("8 tax rates were saved.")).to_be_visible()
    assert TaxRate.objects.filter(category="").count() == 0
    walk.look("rates-saved")


def add_a_customer(walk: Walk) -> None:
    walk.click("Start First customer", role="link")
    walk.fill(CUSTOMER)
    walk.field("Country").select_option(label="Germany")
    walk.look("customer")
    walk.click("Save")
    assert Customer.objects.get().name == "Acme Ltd"
    walk.go_home()


def turn_access_on(walk: Walk) -> None:
    expect(walk.page.get_by_role("heading", name="Next: Agent access")).to_be_visible()
    walk.click("Start", role="link")
    walk.fill({"Your own password": PASSWORD})
    walk.look("turn-on")
    walk.click("Turn on")
    walk.go_home()


def connect(walk: Walk) -> str:
    """Return the lines of the new connection's page."""
    walk.click("Start", role="link")
    walk.click("Plain HTTP", role="link")
    walk.look("connect")
    walk.click("Make a connection", role="link")
    walk.fill({"Name": "My first agent", "Your own password": PASSWORD})
    walk.page.get_by_label("Acts as").select_option(index=1)
    walk.page.get_by_label("Ask for invoices to be issued").check()
    walk.look("new-connection")
    walk.click("Create the connection")
    walk.look("connection")
    return walk.page.get_by_label("Try it over HTTP").input_value()


def approve(walk: Walk, review: str) -> None:
    assert review.startswith(f"https://{HOST}/approvals/")
    walk.page.goto(review)
    walk.look("review")
    walk.click("Approve issue")
    walk.look("approved")


def look_at_the_invoice(walk: Walk) -> None:
    """Expect the number, the approval in the audit, and the original as a PDF."""
    invoice = Document.objects.get()
    assert invoice.number is not None
    assert invoice.number.startswith("INV-")
    assert invoice.number.endswith("-0001")
    assert AuditEvent.objects.filter(action="documents.issue", outcome="ok").count() == 1
    walk.page.goto(f"/documents/{invoice.pk}")
    expect(walk.page.get_by_role("heading", name=invoice.number)).to_be_visible()
    walk.look("invoice")
    head = walk.page.evaluate(READ, f"/documents/{invoice.pk}/pdf")
    assert head == "%PDF-"
    walk.go_home()
    expect(walk.page.get_by_role("heading", name="Set up invoicing")).to_have_count(0)
    walk.look("home-done")
