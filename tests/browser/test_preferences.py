"""Where the first sign-in asks for language and time zone, in a real browser."""

import pytest

from tests.browser.inspection import inspect
from tests.factories import PASSWORD, UserFactory, give_password

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


def test_the_first_sign_in_proposes_what_the_browser_knows_and_a_keyboard_is_enough(open_page):
    person = UserFactory.create(time_zone_chosen_at=None)
    give_password(person)
    page = open_page("/sign-in", locale="de-DE", timezone_id="Asia/Tokyo")
    page.locator("input[name=username]").fill(person.email)
    page.locator("input[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/account/preferences?next=*")
    assert page.locator("select[name=time_zone]").input_value() == "Asia/Tokyo"
    assert page.locator("select[name=language]").input_value() == "de"
    inspect(page, "preferences")
    page.locator("select[name=language]").select_option("en")
    page.locator("main button.primary").press("Enter")
    page.wait_for_url("**/")
    person.refresh_from_db()
    assert (person.language, person.time_zone) == ("en", "Asia/Tokyo")
    page.goto("/account")
    inspect(page, "account")


def test_without_scripts_a_list_asks(open_page):
    person = UserFactory.create(time_zone_chosen_at=None)
    page = open_page("/account/preferences", person, java_script_enabled=False)
    assert page.locator("select[name=time_zone]").input_value() == ""
    page.locator("select[name=time_zone]").select_option("Europe/Berlin")
    page.locator("main button.primary").click()
    page.wait_for_url("**/account?preferences")
    person.refresh_from_db()
    assert person.time_zone == "Europe/Berlin"
