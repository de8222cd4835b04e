"""The language of a page: the person's, then the browser's, then English; programs have English."""

import json
import re
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.translation import get_language, gettext, override

from agent_access.passkeys.mails import Change, tell_of
from agent_access.telling.messages import read_by
from agent_access.telling.models import Preferences
from config.languages import find_languages
from invoicing.models import User
from tests.agents import HOST
from tests.factories import UserFactory
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

HEADING = {"en": "Approvals", "de": "Genehmigungen"}


def open_inbox(browser: Client, accepted: str = "", path: str = "/approvals") -> Any:
    return browser.get(path, headers={"accept-language": accepted} if accepted else {})


def language_of(answer: Any) -> str:
    """Return the language that the answer says it is in, having seen that all of it agrees."""
    language: str = answer.headers["Content-Language"]
    text = answer.content.decode()
    assert f'<html lang="{language}" dir="ltr"' in text
    assert "Accept-Language" in answer.headers["Vary"]
    return language


def speak(person: User, language: str) -> None:
    User.objects.filter(pk=person.pk).update(language=language)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr,de;q=0.5", "de"),
        ("en-GB,de;q=0.9", "en"),
        ("de;q=0.4,en;q=0.6", "en"),
        ("fr,es", "en"),
        ("*", "en"),
        ("not a language, \N{SNOWMAN}", "en"),
        ("de," * 500, "de"),
    ],
)
def test_a_page_is_in_the_language_that_the_browser_prefers(sign_in, person, accepted, language):
    answer = open_inbox(sign_in(person), accepted)
    assert language_of(answer) == language
    assert f"<h1>{HEADING[language]}" in main_of(answer)


@pytest.mark.parametrize(("chosen", "language"), [("de", "de"), ("en", "en"), ("tlh", "en")])
def test_the_language_that_a_person_chose_comes_before_the_browsers(
    sign_in, person, chosen, language
):
    speak(person, chosen)
    accepted = {"de": "en", "en": "de", "tlh": "en"}[chosen]
    assert language_of(open_inbox(sign_in(person), accepted)) == language


def test_two_people_in_one_process_have_each_their_language(sign_in, person):
    other = UserFactory.create(language="de")
    speak(person, "en")
    browsers = {"en": sign_in(person), "de": sign_in(other)}
    for language in ("de", "en", "de"):
        assert language_of(open_inbox(browsers[language], "fr")) == language
        assert get_language() == settings.LANGUAGE_CODE


def test_a_page_that_does_not_exist_is_told_in_the_persons_language(sign_in, person):
    speak(person, "de")
    answer = open_inbox(sign_in(person), "en", "/nowhere")
    assert (answer.status_code, language_of(answer)) == (404, "de")


def test_the_sign_in_page_is_in_the_browsers_language_and_asks_no_database(
    browser, django_assert_num_queries
):
    with django_assert_num_queries(0):
        assert language_of(open_inbox(browser, "de", "/sign-in")) == "de"


def test_a_failure_is_told_in_the_persons_language(sign_in, person, monkeypatch):
    speak(person, "de")
    browser = sign_in(person)
    browser.raise_request_exception = False
    monkeypatch.setattr("agent_access.approvals.views.render", lambda *_, **__: 1 / 0)
    answer = open_inbox(browser, "en")
    assert (answer.status_code, language_of(answer)) == (500, "de")


@pytest.mark.parametrize("path", ["/approvals", "/nowhere", "/sign-in", "/account"])
def test_the_language_costs_no_query(sign_in, person, settings, path):
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            open_inbox(browser, "en", path)
        return len(queries)

    speak(person, "de")
    browser = sign_in(person)
    with_language = count_queries()
    settings.MIDDLEWARE = [each for each in settings.MIDDLEWARE if "language" not in each]
    assert count_queries() == with_language


def test_an_agent_reads_english_whatever_its_header_and_its_person_say(client, delegate, agent):
    speak(delegate, "de")
    headers = {"host": HOST, "authorization": f"Bearer {agent.credential}"}
    answers = [
        client.get(f"/api/v1/{path}", secure=True, headers={**headers, "accept-language": accepted})
        for path in ("tools", "nowhere", "customers/search")
        for accepted in ("en", "de")
    ]
    said = [json.loads(each.content) for each in answers]
    assert said[0::2] == said[1::2]
    assert not any("Content-Language" in each.headers for each in answers)


def test_an_agent_reads_english_in_whichever_language_the_process_is(client, agent):
    headers = {"host": HOST, "authorization": f"Bearer {agent.credential}"}
    paths = ("/api/v1/nowhere", "/api/v1/tools")
    english = [client.get(path, secure=True, headers=headers).json() for path in paths]
    with override("de"):
        assert [client.get(path, secure=True, headers=headers).json() for path in paths] == english


@pytest.mark.parametrize(("chosen", "told"), [("de", "Genehmigungen"), ("", "Approvals")])
def test_people_are_told_in_the_language_that_they_chose(person, chosen, told):
    person.language = chosen
    with read_by(Preferences(person=person, language="en")):
        assert gettext("Approvals") == told
    assert gettext("Approvals") == "Approvals"


def test_a_mail_about_a_passkey_is_in_the_language_of_whose_it_is(
    person, settings, mailoutbox, django_capture_on_commit_callbacks
):
    settings.AGENT_ACCESS |= {"MAIL_FROM": "service@halden.example"}
    person.language = "de"
    with django_capture_on_commit_callbacks(execute=True):
        tell_of(Change.ADDED, person)
    assert [each.subject for each in mailoutbox] == ["Ihrem Konto wurde ein Passkey hinzugefügt"]


def test_a_language_is_offered_as_soon_as_it_has_a_catalogue(tmp_path):
    for name in ("fr", "pt_BR"):
        folder = tmp_path / name / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "django.mo").touch()
    (tmp_path / "es").mkdir()
    found = [("en", "English"), ("fr", "French"), ("pt-br", "Portuguese (Brazil)")]
    assert find_languages(tmp_path) == found


def test_pages_and_documents_have_each_their_languages():
    assert [code for code, _ in settings.LANGUAGES] == ["en", "de"]
    assert [code for code, _ in settings.DOCUMENT_LANGUAGES] == ["en", "de", "fr", "es"]


def test_the_languages_of_a_draft_are_named_in_that_of_the_page(writer_desk, writer):
    speak(writer, "de")
    page = writer_desk.get("/documents/new").content.decode()
    options = page.split('name="language"', 1)[1].split("</select>", maxsplit=1)[0]
    assert re.findall(r">([^<>]+)</option>", options) == [
        *("Englisch", "Deutsch", "Französisch", "Spanisch"),
    ]
