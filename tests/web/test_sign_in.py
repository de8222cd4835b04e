"""Who gets in, and what a signed-out person learns."""
from django.test import Client

from tests.factories import PASSWORD


def test_a_person_signs_in_and_arrives_at_the_page_asked_for(browser: Client, person):
    asked = browser.get("/customers")
    assert (asked.status_code, asked["Location"]) == (302, "/sign-in?next=/customers")
    answer = browser.post("/sign-in", {"username": person.email, "password": PASSWORD, "next": "/customers"})
    assert (answer.status_code, answer["Location"]) == (302, "/customers")
    assert browser.get("/customers").status_code == 200
    assert b"Dana Delegate" in browser.get("/nothing").content
