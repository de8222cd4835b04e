"""Measures how soon the pages are there in a browser, with the sample company.

    python -m benchmarks.pages --rounds 5

opens each page in Chromium, on a desk and on a phone, without anything kept from the page before,
and prints a table: the median of the Largest Contentful Paint (milliseconds), the worst layout
shift (Cumulative Layout Shift, no unit), and the kB of our own scripts and style, compressed.
The server is `manage.py quickstart`, in a copy of the project, on this machine.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from benchmarks.machine import describe_machine
from tests.ports import free_port

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PROJECT = Path(__file__).resolve().parent.parent
SIZES = {"desk": (1440, 900), "phone": (390, 844)}
PAGES = {
    "person": (
        *("/", "/documents", "/documents?status=draft", "/documents/new", "/approvals"),
        *("/customers", "/customers/new", "/people", "/exports", "/account"),
        "first draft",
    ),
    "owner": ("/", "/setup", "/agents/activity", "/admin/", "/admin/agent_access/connection/"),
}
OBSERVE = """() => { window.found = {paint: 0, shift: 0};
    new PerformanceObserver(list => list.getEntries().forEach(
        each => { window.found.paint = each.startTime; }
    )).observe({type: 'largest-contentful-paint', buffered: true});
    new PerformanceObserver(list => list.getEntries().forEach(
        each => { window.found.shift += each.value; }
    )).observe({type: 'layout-shift', buffered: true}); }"""
OWN_BYTES = """() => performance.getEntriesByType('resource')
    .filter(each => /static.(invoicing|agent_).*[.](css|js)$/.test(new URL(each.name).pathname))
    .reduce((sum, each) => sum + each.encodedBodySize, 0)"""
SETTLED_MILLISECONDS = 400


@dataclass(frozen=True)
class Seen:
    """What a browser saw of one page: milliseconds, a share of the page, and bytes."""

    paint: float
    shift: float
    size: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.pages", allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    named = os.environ.get("BROWSER_BIN", "")
    program = next(filter(None, (named, *map(shutil.which, PROGRAMS))), None)
    if program is None:
        parser.error("No browser was found (BROWSER_BIN, chromium, google-chrome).")
    sys.stdout.write(f"{describe_machine()}\n")
    sys.stdout.write(
        "| page | who | on | LCP, ms | layout shift | own kB |\n|---|---|---|---|---|---|\n"
    )
    with run_quickstart() as (address, accounts, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for who, pages in PAGES.items():
            for path in pages:
                for device in SIZES:
                    measured = [
                        look(browser, address, path, device, (accounts[who], password))
                        for _ in range(rounds)
                    ]
                    sys.stdout.write(_row(path, who, device, measured))
                    sys.stdout.flush()
        browser.close()
    return 0


def _row(path: str, who: str, device: str, measured: list[Seen]) -> str:
    paint = median(each.paint for each in measured)
    shift, size = max(each.shift for each in measured), max(each.size for each in measured)
    return f"| {path} | {who} | {device} | {paint:.0f} | {shift:.3f} | {size / 1000:.1f} |\n"


@contextmanager
def run_quickstart() -> Iterator[tuple[str, dict[str, str], str]]:
    """Serve the sample company; yields the address, who can sign in, and their password."""
    port = free_port()
    with tempfile.TemporaryDirectory() as scratch:
        house = Path(scratch, "house")
        left_out = shutil.ignore_patterns(".*", "tests", "docs", "benchmarks", "var")
        shutil.copytree(PROJECT, house, ignore=left_out)
        process = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "manage.py", "quickstart", "--port", str(port)],
            cwd=house,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            said = _read_until_ready(process)
            emails = re.findall(r"\S+@\S+", said)
            password = re.findall(r"Password:\s+(\S+)", said)[0]
            address = re.findall(r"Address:\s+(\S+)/\n", said)[0]
            yield address, {"person": emails[0], "owner": emails[1]}, password
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _read_until_ready(process: "subprocess.Popen[str]") -> str:
    said = ""
    for line in process.stdout or ():
        said += line
        if line.startswith("Ready: "):
            return said
    raise RuntimeError(f"It was never ready: {said}")


def look(browser: Browser, address: str, path: str, device: str, who: tuple[str, str]) -> Seen:
    """Sign in, forget what the browser keeps, open the page, and return what was seen of it."""
    width, height = SIZES[device]
    size: Any = {"width": width, "height": height}
    context = browser.new_context(base_url=address, ignore_https_errors=True, viewport=size)
    session = _sign_in(context, *who)
    page = session.new_page()
    if path == "first draft":
        page.goto("/documents?status=draft")
        path = page.locator("main a[href^='/documents/']").first.get_attribute("href") or ""
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.add_init_script(f"({OBSERVE})()")
    answer = page.goto(path)
    if answer is None or not answer.ok:
        raise RuntimeError(f"{path} was not shown.")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(SETTLED_MILLISECONDS)
    found = page.evaluate("window.found")
    seen = Seen(found["paint"], found["shift"], page.evaluate(OWN_BYTES))
    context.close()
    return seen


_sessions: dict[str, list[Any]] = {}


def _sign_in(context: BrowserContext, email: str, password: str) -> BrowserContext:
    """Give the context a session, the same one for all pages: sign-ins are limited."""
    if email not in _sessions:
        page = context.new_page()
        page.goto("/sign-in")
        page.locator("input[name=username], input[name=email]").first.fill(email)
        page.locator("input[type=password]").fill(password)
        page.locator("main button[type=submit]").first.click()
        page.wait_for_load_state()
        _sessions[email] = list(context.cookies())
        page.close()
    else:
        context.add_cookies(_sessions[email])
    return context


if __name__ == "__main__":
    sys.exit(main())
