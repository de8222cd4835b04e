"""Pages looked at as people see them: on a desk and on a phone, in light and in dark.

With SCREENSHOT_FOLDER, which names a folder for pictures, each is looked at in all four ways.
"""

import os
from itertools import product
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

WIDTHS = {"desktop": 1280, "phone": 390}
SCHEMES = ("light", "dark")
# Axe looks at the size of what is tapped (WCAG 2.5.8) only if asked to.
AXE_OPTIONS = "{resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}"
# How often, and how far apart, a page is measured that a busy machine has not laid out anew yet.
LAYOUTS = 40
LAYOUT_MILLISECONDS = 50
# The texts of cells, facts and tables of lines that reach beyond their place, over the next one or
# the card's edge.
SPILT = """() => [...document.querySelectorAll('.card :is(td, th, dt, dd, .lines-box)')]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.innerText)"""


def inspect(page: Page, name: str) -> None:
    """Expect no violation of accessibility and nothing beyond its place, narrow and dark.

    With a folder for pictures, expect and take them at each width in each scheme.
    """
    page.wait_for_load_state()  # a text may be there before what gives it its size
    folder = os.environ.get("SCREENSHOT_FOLDER")
    for device, scheme in product(WIDTHS, SCHEMES) if folder else [("phone", "dark")]:
        _look(page, device, scheme)
        assert fits(page), f"{name}, {device}"
        assert page.evaluate(SPILT) == [], f"{name}, {device}"
        found = find_violations(page)
        assert found == [], f"{name}, {device}, {scheme}: {found}"
        if folder:
            picture = Path(folder, f"{name}-{device}-{scheme}.png")
            page.screenshot(path=picture, full_page=True)


def follow(link: Locator) -> None:
    """Click, and wait for the page that this leads to: a click alone may show the one before."""
    with link.page.expect_navigation():
        link.click()


def fits(page: Page) -> bool:
    """Return whether nothing lies beyond the width, once the page is laid out anew."""
    for _ in range(LAYOUTS):
        if page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0:
            return True
        page.wait_for_timeout(LAYOUT_MILLISECONDS)
    return False


def find_violations(page: Page) -> list[tuple[str, str]]:
    """Return what axe finds: the rule and the element that breaks it."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(Axe().axe_script)
    # What axe found in order, a hundred times as much, stays in the browser.
    found = page.evaluate(f"axe.run({AXE_OPTIONS}).then(found => found.violations)")
    return [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]


def _look(page: Page, device: str, scheme: str) -> None:
    page.set_viewport_size({"width": WIDTHS[device], "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
