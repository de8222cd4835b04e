"""A database that does not answer, or cannot take a text, is no bug of ours to a person."""

import logging
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.backends.db import SessionStore
from django.db import DataError, InterfaceError, OperationalError, connection, transaction
from django.test import Client

from invoicing.identifiers import new_id
from invoicing.models import Document, User
from tests.approvals import fingerprint_draft
from tests.browsers import Browser
from tests.factories import PASSWORD, UserFactory, make_draft
from tests.threads import run_together
from tests.web.forms import main_of

SECRET = "the secret name of the server"


@pytest.fixture
def patient(sign_in, person) -> Client:
    """A browser that shows what the server answers, where a test would hear of the exception."""
    browser: Client = sign_in(person)
    browser.raise_request_exception = False
    return browser


def raising(error: Exception) -> Any:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    return fail


def expect_unavailable(answer: Any) -> None:
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "Not available just now" in main_of(answer)
    assert SECRET not in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_page_without_its_database_says_when_to_come_back(patient, monkeypatch, caplog, error):
    view = "invoicing.web.document_list.find_by_words"
    monkeypatch.setattr(view, raising(error(SECRET)))
    with caplog.at_level(logging.ERROR):
        answer = patient.get("/documents?search=a-private-name")

    expect_unavailable(answer)
    # Written down with its trace; with the path, and nothing that stands after it.
    assert "Service Unavailable: /documents" in caplog.messages
    assert caplog.records[-1].exc_info
    assert "a-private-name" not in caplog.text


@pytest.mark.postgresql  # which alone can be a standby
def test_so_does_one_whose_database_takes_no_writes(patient, customer, person):
    draft = make_draft(customer=customer, user=person)
    form = {"fingerprint": fingerprint_draft(draft)}
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        expect_unavailable(patient.post(f"/documents/{draft.pk}/issue", form))


@pytest.mark.parametrize("path", ["/documents", "/nothing", "/sign-in"])
def test_so_does_every_page_whose_session_cannot_be_read(patient, monkeypatch, path):
    monkeypatch.setattr(SessionStore, "load", raising(OperationalError(SECRET)))
    expect_unavailable(patient.get(path))


def test_so_does_a_page_whose_session_cannot_be_written(db):
    browser = Browser(raise_request_exception=False)
    user = UserFactory.create(password=make_password(PASSWORD))

    def refuse(execute: Any, sql: str, *args: Any) -> Any:
        if sql.startswith('UPDATE "django_session"'):
            raise OperationalError(SECRET)
        return execute(sql, *args)

    with connection.execute_wrapper(refuse):
        answer = browser.post("/sign-in", {"username": user.email, "password": PASSWORD})
    expect_unavailable(answer)


def test_so_does_the_head_of_a_page(patient, monkeypatch):
    monkeypatch.setattr("invoicing.web.navigation.sections_of", raising(OperationalError(SECRET)))
    expect_unavailable(patient.get("/documents"))


def test_signing_in_without_a_database_says_when_to_come_back(db, monkeypatch):
    browser = Browser(raise_request_exception=False)
    user = UserFactory.create()
    monkeypatch.setattr(User.objects, "get_by_natural_key", raising(OperationalError(SECRET)))
    expect_unavailable(browser.post("/sign-in", {"username": user.email, "password": PASSWORD}))


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_lock_that_is_not_got_in_time_changes_nothing(patient, customer, person):
    draft = make_draft(customer=customer, user=person)
    form = {"fingerprint": fingerprint_draft(draft)}

    def send() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        return patient.post(f"/documents/{draft.pk}/issue", form)

    with transaction.atomic():
        Document.objects.select_for_update().get(pk=draft.pk)
        [answer] = run_together([send])

    expect_unavailable(answer)
    assert Document.objects.get().status == "draft"


NUL_REQUESTS = [
    *("/documents?search=%00", "/documents?search=a%00&status=%00&after=%00", "/documents/%00"),
    *("/customers?search=%00&page=%00", "/people?search=%00", "/approvals?before=%00"),
    *("/sign-in?next=%00", "/%00"),
]


@pytest.mark.parametrize("path", NUL_REQUESTS)
def test_a_nul_in_an_address_is_no_failure(patient, path):
    assert patient.get(path).status_code in {200, 302, 404}


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_nul_that_reaches_the_database_is_the_senders_mistake(patient, monkeypatch, method):
    monkeypatch.setattr(Document.objects, "visible_to", raising(DataError(SECRET)))
    monkeypatch.setattr("invoicing.web.issuing.issue_by_hand", raising(DataError(SECRET)))
    path = f"/documents/{new_id()}/issue"
    answer = getattr(patient, method)(path, {"fingerprint": "a\0b"})

    assert answer.status_code == 400
    assert "This request was not understood" in main_of(answer)
    assert getattr(patient, method)(path, {"fingerprint": "ab"}).status_code == 500


@pytest.mark.parametrize("path", ["/sign-out", "/account/sign-out-everywhere"])
def test_an_address_for_buttons_alone_says_so(patient, path):
    answer = patient.get(path)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Nothing was changed." in main_of(answer)
