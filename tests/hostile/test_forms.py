"""Forms as no browser sends them: in another charset, or broken off on the way."""

from urllib.parse import quote, urlencode

import pytest
from django.conf import settings
from django.test import Client

from invoicing.models import Document, User
from tests.agents import HOST, Answer
from tests.browsers import SignIn
from tests.factories import make_draft
from tests.operations.wsgi import send
from tests.security.browser import send_body, session_cookie
from tests.web.forms import read_form

# What is read before a database is asked; half a text is text to both.
pytestmark = pytest.mark.sqlite

TOKEN = "t" * 32
CODECS = ["hex", "rot13", "zip", "idna", "punycode", "undefined", "utf-7", "unicode_escape"]
# A lone surrogate in two of them.
TEXTS = {"utf-7": b"+2AA-", "unicode_escape": rb"\ud800"}
FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=part"


@pytest.fixture
def desk(sign_in: SignIn, person: User) -> Client:
    return sign_in(person)


@pytest.fixture
def draft_form(desk: Client, person, customer) -> dict[str, str]:
    """The form of a draft as its page shows it, with its token."""
    draft = make_draft(user=person, customer=customer, notes="As it was")
    shown = read_form(desk.get(f"/documents/{draft.pk}/edit"))
    return {"csrfmiddlewaretoken": TOKEN, **shown, "notes": "Pay 1000 EUR, and not before May"}


@pytest.fixture
def send_draft(desk: Client, draft_form):
    cookies = f"{session_cookie(desk)}; {settings.CSRF_COOKIE_NAME}={TOKEN}"
    path = f"/documents/{Document.objects.get().pk}/edit"

    def send_it(body: bytes, **environ: str) -> Answer:
        headers = {"HTTP_COOKIE": cookies, "HTTP_ORIGIN": f"https://{HOST}"}
        return send_body(path, body, **headers | environ)

    return send_it


def in_parts(fields: dict[str, str]) -> bytes:
    head = 'Content-Disposition: form-data; name="{}"'
    parts = (f"--part\r\n{head.format(n)}\r\n\r\n{text}\r\n" for n, text in fields.items())
    return ("".join(parts) + "--part--\r\n").encode()


def test_a_charset_breaks_no_address(access_on, subtests):
    for path, status in (("/sign-in", 200), ("/api/v1/documents", 401), ("/nothing", 404)):
        for codec in CODECS:
            with subtests.test(path=path, codec=codec):
                kind = f"text/plain; charset={codec}"
                answer = send("GET", path, QUERY_STRING="search=a", CONTENT_TYPE=kind)
                assert answer.status == status


@pytest.mark.parametrize("kind", [FORM, PARTS])
def test_a_form_is_utf_8_whatever_its_charset(send_draft, draft_form, subtests, kind):
    for number, codec in enumerate(CODECS, start=1):
        with subtests.test(codec=codec):
            fields = {**draft_form, "lock_version": str(number), "notes": "@"}
            body = in_parts(fields) if kind == PARTS else urlencode(fields).encode()
            text = TEXTS.get(codec, b"Gr\xc3\xbc\xc3\x9fe")
            sent = body.replace(b"@", text).replace(b"%40", quote(text).encode())
            answer = send_draft(sent, CONTENT_TYPE=f"{kind}; charset={codec}")
            assert answer.status == 302
            assert Document.objects.get().notes == text.decode()


@pytest.mark.parametrize("kind", [FORM, PARTS])
def test_half_a_form_is_not_taken_for_a_whole_one(send_draft, draft_form, kind):
    body = in_parts(draft_form) if kind == PARTS else urlencode(draft_form).encode()
    in_notes = len(body) - body.index(b"1000") - len("100")
    for missing in (1, 25, in_notes, len(body) - 1):
        answer = send_draft(body[:-missing], CONTENT_TYPE=kind, CONTENT_LENGTH=str(len(body)))
        assert answer.status == 403
        assert b"Nothing was saved yet" in answer.content
    assert Document.objects.get().notes == "As it was"
    assert send_draft(body, CONTENT_TYPE=kind).status == 302
    assert Document.objects.get().notes == "Pay 1000 EUR, and not before May"


@pytest.mark.parametrize("host", [f"{HOST}:443", HOST.upper()])
def test_a_form_is_taken_whatever_the_spelling_of_the_host(send_draft, draft_form, host):
    assert send_draft(urlencode(draft_form).encode(), HTTP_HOST=host).status == 302
    assert Document.objects.get().notes == "Pay 1000 EUR, and not before May"


@pytest.mark.parametrize("kind", [FORM, PARTS])
@pytest.mark.parametrize("length", ["abc", "-1", "1.5", "1" * 5000])
def test_a_length_that_is_no_number_is_refused_without_a_failure(
    send_draft, draft_form, length, kind
):
    body = in_parts(draft_form) if kind == PARTS else urlencode(draft_form).encode()
    answer = send_draft(body, CONTENT_TYPE=kind, CONTENT_LENGTH=length)
    assert answer.status == (400 if (length, kind) == ("-1", PARTS) else 403)
    assert Document.objects.get().notes == "As it was"
