"""What people do in the form of a draft, with its scripts."""

from playwright.sync_api import Locator, Page, expect


def choose_customer(page: Page, name: str) -> None:
    """Type a name, and take the first customer that is suggested."""
    box = page.get_by_role("combobox", name="Customer")
    box.fill(name)
    expect(page.get_by_role("option").first).to_be_visible()
    box.press("Enter")
    expect(page.get_by_role("listbox")).to_be_hidden()


def line(page: Page, number: int) -> Locator:
    return page.locator(f"#line-{number}")


def type_line(page: Page, number: int, **texts: str) -> None:
    """Type into the fields of a line, by their names."""
    for name, text in texts.items():
        line(page, number).locator(f"[name$='-{name}']").fill(text)


def texts_of(page: Page, name: str = "description") -> list[str]:
    """Return what the lines hold in one field, in their order."""
    return [each.input_value() for each in page.locator(f".line [name$='-{name}']").all()]
