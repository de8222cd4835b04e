"""What a browser is told, and what a page refuses, whatever the page."""

import re
import runpy
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.core.management import call_command
from django.template.loader import get_template
from django.test import Client

import config.settings
from invoicing.models import Document
from invoicing.web.uploads import PageUploadHandler
from tests.agents import HOST
from tests.browsers import Browser
from tests.factories import PASSWORD, make_draft
from tests.web.forms import main_of, read_form

# What guards every page asks no database.
pytestmark = pytest.mark.sqlite

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}


@pytest.mark.requirement("no_store.pages")
@pytest.mark.parametrize(
    "path", ["/sign-in", "/documents", "/nothing", "/static/invoicing/app.css"]
)
def test_every_answer_tells_the_browser_to_be_strict(sign_in, person, path):
    answer = sign_in(person).get(path)
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in answer
    assert answer["Strict-Transport-Security"] == "max-age=31536000"
    assert answer["Cache-Control"] == "no-store"
    answer.close()


def test_a_form_without_its_token_changes_nothing(strict, customer):
    draft = make_draft(customer=customer)
    path = f"/documents/{draft.id}/edit"
    form = {**read_form(strict.get(path)), "reference": "Forged", "save": ""}
    headers = {"Origin": "https://invoices.example"}
    answer = strict.post(path, form, headers=headers)
    assert answer.status_code == 403
    assert "Nothing was saved yet" in main_of(answer)
    assert Document.objects.get().reference == ""


def test_a_form_of_another_site_changes_nothing_even_with_a_token(strict, customer):
    draft = make_draft(customer=customer)
    path = f"/documents/{draft.id}/edit"
    page = strict.get(path)
    token = str(page.context["csrf_token"])
    form = {**read_form(page), "reference": "Forged", "save": "", "csrfmiddlewaretoken": token}
    for origin in ["https://evil.example", "http://invoices.example", "null"]:
        assert strict.post(path, form, headers={"Origin": origin}).status_code == 403
    assert Document.objects.get().reference == ""
    own = strict.post(path, form, headers={"Origin": "https://invoices.example"})
    assert own.status_code == 302
    assert Document.objects.get().reference == "Forged"


def test_signing_in_needs_the_token_too(person):
    browser = Browser(enforce_csrf_checks=True)
    browser.get("/sign-in")
    form = {"username": person.email, "password": PASSWORD}
    headers = {"Origin": "https://evil.example"}
    assert browser.post("/sign-in", form, headers=headers).status_code == 403
    assert "__Host-session" not in browser.cookies


def test_behind_a_proxy_a_page_is_as_strict_and_takes_its_own_form(monkeypatch, settings, person):
    monkeypatch.setenv("TRUSTED_PROXIES", "1")
    behind = runpy.run_path(config.settings.__file__)
    for name in ("AGENT_ACCESS", "SECURE_PROXY_SSL_HEADER"):
        setattr(settings, name, behind[name])
    browser = Client(enforce_csrf_checks=True, headers={"host": HOST, "x-forwarded-proto": "https"})
    page = browser.get("/sign-in")
    assert page["Strict-Transport-Security"] == "max-age=31536000"
    token = str(page.context["csrf_token"])
    form = {"username": person.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
    answer = browser.post("/sign-in", form, headers={"Origin": f"https://{HOST}"})
    assert answer.status_code == 302


@pytest.mark.parametrize("host", ["evil.example", "invoices.example:8443", "invoices.example.evil"])
def test_a_page_never_answers_at_another_host(browser, host):
    answer = browser.get("/sign-in", headers={"host": host})
    assert answer.status_code == 403
    assert host not in answer.content.decode()
    assert not answer.cookies


def test_a_page_never_answers_without_https(person):
    browser = Client(headers={"host": "invoices.example"})
    answer = browser.get("/sign-in")
    assert answer.status_code == 403
    assert not answer.cookies


def test_a_session_is_no_way_to_the_tools(sign_in, person, access_on):
    browser = sign_in(person)
    answer = browser.get("/api/v1/documents")
    assert answer.status_code == 401
    assert not answer.cookies


def test_a_tool_never_looks_at_a_cookie(browser, access_on):
    """A malformed cookie would make Django send a new one."""
    browser.cookies["__Host-csrf"] = "malformed"
    browser.cookies["__Host-session"] = "x"
    answer = browser.get("/api/v1/documents")
    assert (answer.status_code, dict(answer.cookies)) == (401, {})
    assert "Cookie" not in answer.get("Vary", "")


def test_a_failure_says_nothing_of_its_cause(sign_in, person, monkeypatch):
    def fail(*args: object) -> None:
        raise RuntimeError("the secret name of the server")

    monkeypatch.setattr("invoicing.web.document_list.find_sorted", fail)
    browser = sign_in(person)
    browser.raise_request_exception = False
    answer = browser.get("/documents")
    assert answer.status_code == 500
    assert "Something went wrong" in main_of(answer)
    assert "secret" not in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "405", "500", "503"])
def test_every_error_page_is_one_of_ours(name):
    page = get_template(f"{name}.html").render()
    assert '<a class="brand" href="/">Invoicing</a>' in page
    [heading] = re.findall("<h1>(.+)</h1>", page)
    [title] = re.findall(r"<title>\s*(.+?)\s*</title>", page)
    assert title == heading


def test_a_hashed_static_file_is_kept_by_the_browser(tmp_path, settings):
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = False
    manifest = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": manifest}}
    call_command("collectstatic", interactive=False, verbosity=0)
    [hashed] = (path.name for path in tmp_path.glob("invoicing/app.*.css"))
    browser = Browser()
    kept = browser.get(f"/static/invoicing/{hashed}")
    assert kept["Cache-Control"] == "max-age=315360000, public, immutable"
    assert b"".join(kept) == Path(str(finders.find("invoicing/app.css"))).read_bytes()
    kept.close()
    plain = browser.get("/static/invoicing/app.css")
    assert plain["Cache-Control"] == "no-store"
    plain.close()
    assert hashed.encode() in browser.get("/sign-in").content


@pytest.mark.parametrize("path", ["/sign-in", "/set-password", "/admin/invoices/company/add/"])
def test_a_file_that_a_stranger_sends_is_refused_before_it_is_read(path, monkeypatch):
    handlers = (TemporaryFileUploadHandler, MemoryFileUploadHandler, PageUploadHandler)
    for handler in handlers:
        monkeypatch.setattr(handler, "receive_data_chunk", refuse_to_write)
    fields = {"username": "x", "password": SimpleUploadedFile("x", b"x" * 3_000_000)}
    browser = Browser(enforce_csrf_checks=True)
    browser.get("/sign-in")
    headers = {"Origin": "https://invoices.example"}
    assert browser.post(path, fields, headers=headers).status_code == 400


def refuse_to_write(*args: object, **kwargs: object) -> None:
    raise AssertionError("a file is being written")


def test_the_style_sheet_is_small():
    found = Path(str(finders.find("invoicing/app.css")))
    assert found.stat().st_size < 18_000


@pytest.mark.parametrize("sheet", ["app.css", "admin.css"])
def test_no_colour_needs_a_browser_of_2024(sheet):
    # Where light-dark() is unknown, fields lose their borders and buttons their ground.
    text = Path(str(finders.find(f"invoicing/{sheet}"))).read_text()
    assert re.findall(r": *light-dark\(", text) == []
