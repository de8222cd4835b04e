"""A form that was sent after the session ended, or after signing in anew, loses nothing."""

import re
from typing import Any

import pytest

from invoicing.models import Document
from tests.browsers import Browser, sign_in_with
from tests.factories import PASSWORD, make_draft
from tests.web.forms import main_of, read_form, text_of

OWN = {"Origin": "https://invoices.example"}
KEPT = "What you typed is kept"
NO_EFFECT = "You were no longer signed in, so this button did nothing."
STALE = {"csrfmiddlewaretoken": "s" * 64}
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture
def typed(sign_in, person, customer, tax_rate) -> dict[str, str]:
    """What a person types into the form of a new draft, and sends with its button."""
    form = read_form(sign_in(person).get("/documents/new"))
    line = {"line-0-description": "An hour\nof “typing” & more", "line-0-quantity": "2"}
    header = {"customer_id": str(customer.id), "notes": "מאה אחוז"}
    return form | header | line | {"line-0-unit_price": "10.50", "save": ""}


def fields_of(answer: Any) -> dict[str, str]:
    """Return the fields of the form that leads back, which is sent to another page."""
    text = answer.content.decode().replace('action="/documents', 'action="?" data-path="/documents')
    answer.content = text.encode()
    return read_form(answer)


def token_of(answer: Any) -> str:
    """Return the token of the form that leads back; a second one would be taken in its place."""
    text = text_of(answer)
    [token] = TOKEN.findall(text[text.index("<main") :])
    return str(token)


def test_what_was_typed_comes_back_after_signing_in(browser, person, typed):
    late = browser.post("/documents/new", typed | STALE)
    assert late.status_code == 403
    assert KEPT in text_of(late)
    asked = {"next": late.context["next"], "typed": late.context["typed"]}
    refused = sign_in_with(browser, person.email, "wrong", **asked)
    assert refused.context["typed"] == asked["typed"]
    signed_in = sign_in_with(browser, person.email, **asked)
    assert KEPT in text_of(signed_in)
    assert token_of(signed_in) != STALE["csrfmiddlewaretoken"]
    assert not Document.objects.exists()

    form = browser.post("/documents/new", fields_of(signed_in) | {"resume": ""})
    assert form.status_code == 200
    assert not Document.objects.exists()
    answer = browser.post("/documents/new", read_form(form) | {"save": ""})
    document = Document.objects.get()
    assert answer["Location"] == f"/documents/{document.id}?done"
    [line] = document.lines.all()
    assert (line.description, document.notes) == ("An hour\nof “typing” & more", "מאה אחוז")
    assert typed["draft_code"].startswith(f"{document.draft_code}:")


def test_it_comes_back_upon_the_version_that_was_read(browser, person, customer, typed):
    draft = make_draft(customer=customer)
    path = f"/documents/{draft.id}/edit"
    late = browser.post(path, typed | {"lock_version": "1"})
    asked = {"next": late.context["next"], "typed": late.context["typed"]}
    back = fields_of(sign_in_with(browser, person.email, **asked))
    Document.objects.update(lock_version=2)
    form = read_form(browser.post(path, back | {"resume": ""}))
    assert form["lock_version"] == "1"
    assert browser.post(path, form | {"save": ""}).status_code == 409


def test_a_token_from_before_signing_in_anew_costs_nothing(strict, typed):
    strict.get("/documents/new")
    answer = strict.post("/documents/new", typed | STALE, headers=OWN)
    assert answer.status_code == 403
    assert KEPT in text_of(answer)
    assert fields_of(answer) == typed
    assert not Document.objects.exists()
    back = typed | {"csrfmiddlewaretoken": token_of(answer), "resume": ""}
    assert strict.post("/documents/new", back, headers=OWN).status_code == 200


def test_nor_does_one_from_before_all_cookies_went(typed):
    answer = Browser(enforce_csrf_checks=True).post("/documents/new", typed | STALE, headers=OWN)
    assert answer.status_code == 403
    assert KEPT in text_of(answer)
    assert "line-0-description=An+hour" in answer.context["typed"]
    assert "csrfmiddlewaretoken" not in answer.context["typed"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
def test_what_another_site_sends_is_not_kept(strict, typed, origin):
    headers = {"Origin": origin} if origin else {"Referer": "https://evil.example/"}
    for browser in (strict, Browser(enforce_csrf_checks=True)):
        answer = browser.post("/documents/new", typed, headers=headers)
        assert answer.status_code == 403
        assert "Please send the form again" in main_of(answer)
        assert "typing" not in answer.content.decode()


def test_signing_in_beside_a_tab_that_is_signed_in_leads_on(strict, person, typed):
    form = {"username": person.email, "password": PASSWORD, "next": "/people"}
    answer = strict.post("/sign-in", form, headers=OWN)
    assert (answer.status_code, answer["Location"]) == (302, "/people")
    draft = {"next": "/documents/new", "typed": "notes=Long"}
    kept = strict.post("/sign-in", form | draft, headers=OWN)
    assert KEPT in text_of(kept)
    stranger = Browser(enforce_csrf_checks=True)
    assert stranger.post("/sign-in", form, headers=OWN).status_code == 403
    assert "__Host-session" not in stranger.cookies


@pytest.mark.parametrize("path", ["/people", "/sign-out", "/admin/", "/nothing"])
def test_no_other_form_is_filled_in_for_whoever_signs_in(browser, person, path):
    answer = sign_in_with(browser, person.email, next=path, typed="decision=approve")
    assert (answer.status_code, answer["Location"]) == (302, path)


@pytest.mark.parametrize(
    ("button", "page"),
    [
        ("/sign-out", "/documents"),
        ("/account/sign-out-everywhere", "/account"),
        ("/admin/agent_access/accesssettings/stop/", "/admin/"),
    ],
)
def test_a_button_that_was_pressed_too_late_leads_back_to_its_page(browser, company, button, page):
    answer = browser.post(button, headers={"Referer": f"https://invoices.example{page}"})
    assert (answer.status_code, answer["Location"]) == (302, f"/sign-in?next={page}&late")
    assert NO_EFFECT in text_of(browser.get(answer["Location"]))
    elsewhere = browser.post(button, headers={"Referer": f"https://invoices.example.evil{page}"})
    assert elsewhere["Location"] == f"/sign-in?next={button}&late"
