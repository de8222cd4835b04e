"""The owner takes a package of evidence out, after typing their password; nobody else can."""

import hashlib
from threading import BoundedSemaphore

import pytest

from agent_access.evidence.package import VERIFIER
from agent_access.evidence.verify_evidence import verify
from agent_access.models import AuditEvent
from agent_access.verification import find_breaks
from invoicing.administration import evidence, exports
from invoicing.models import User
from tests.factories import PASSWORD, give_password
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

URL = "/admin/invoices/company/evidence"
FORM = {"own_password": PASSWORD}
ACTS = ("export:begun", "export:finished", "export:ended_early")


@pytest.fixture
def owner(owner: User) -> User:
    give_password(owner)
    return owner


def acts() -> list[tuple[str, str, str]]:
    told = AuditEvent.objects.filter(action__in=ACTS).order_by("sequence")
    return list(told.values_list("action", "target", "detail"))


def test_the_owner_downloads_a_package_that_verifies(sign_in, owner, agent, draft_body, tmp_path):
    agent.call("drafts.create", draft_body, key="one")
    desk = sign_in(owner)
    assert f'href="{URL}"' in main_of(desk.get("/admin/agent_access/auditevent/"))
    assert "verify_evidence.py" in main_of(desk.get(URL))

    answer = desk.post(URL, FORM)
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"].startswith('attachment; filename="evidence_2')
    file = tmp_path / "evidence.zip"
    file.write_bytes(answer.getvalue())

    report, code = verify(str(file), None, None)
    assert code == 0, report
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert acts() == [
        ("export:begun", "evidence", "all of it"),
        ("export:finished", "evidence", f"{file.stat().st_size} bytes, SHA-256 {digest}"),
    ]
    [who] = AuditEvent.objects.filter(action="export:begun").values_list("actor_id", "transport")
    assert who == (owner.id, "web")
    assert list(find_breaks()) == []


def test_the_owner_downloads_the_verifier(sign_in, owner):
    answer = sign_in(owner).get(f"{URL}/verifier")
    assert answer["Content-Disposition"] == 'attachment; filename="verify_evidence.py"'
    assert answer.getvalue() == VERIFIER.read_bytes()


@pytest.mark.parametrize(
    ("password", "sentence"),
    [
        ("wrong-password", "This is not your password."),
        (None, "Nothing was done yet: this needs your password as well."),
    ],
)
def test_without_the_password_nothing_leaves(sign_in, owner, password, sentence):
    answer = sign_in(owner).post(URL, {"own_password": password})
    assert answer.status_code == 422
    assert sentence in main_of(answer)
    assert acts() == []


@pytest.mark.parametrize("name", ["superuser", "administrator", "delegate", "guest"])
def test_nobody_else_finds_the_pages(request, sign_in, owner, name):
    person = request.getfixturevalue(name)
    give_password(person)
    desk = sign_in(person)
    for answer in (desk.get(URL), desk.post(URL, FORM), desk.get(f"{URL}/verifier")):
        assert answer.status_code in {403, 404}
    assert acts() == []


@pytest.mark.usefixtures("_clock_stands_still")
def test_guessing_the_owners_password_there_ends_soon(sign_in, owner):
    desk = sign_in(owner)
    for _ in range(10):
        assert desk.post(URL, {"own_password": "wrong-password"}).status_code == 422
    answer = desk.post(URL, FORM)
    assert answer.status_code == 429
    assert "Too many attempts" in main_of(answer)
    assert acts() == []


def test_few_packages_are_made_at_once(sign_in, owner, monkeypatch):
    monkeypatch.setattr(exports, "_turns", BoundedSemaphore(1))
    desk = sign_in(owner)
    first = desk.post(URL, FORM)
    answer = desk.post(URL, FORM)
    assert answer.status_code == 503
    assert "Try again in a few minutes" in main_of(answer)
    assert acts()[0][0] == "export:begun"
    assert first.getvalue()
    assert desk.post(URL, FORM).getvalue()


@pytest.mark.usefixtures("handed_over_first")
def test_an_owner_who_is_none_any_more_gets_nothing(sign_in, owner):
    answer = sign_in(owner).post(URL, FORM)
    assert answer.status_code == 403
    assert acts() == []


def test_a_package_that_cannot_be_made_is_no_answer(sign_in, owner, monkeypatch):
    """It is complete before anything leaves, so half of one never does."""

    def fail(**_: object) -> object:
        yield b"PK"
        raise RuntimeError

    monkeypatch.setattr(evidence, "write_package", fail)
    with pytest.raises(RuntimeError):
        sign_in(owner).post(URL, FORM)
    assert acts() == []
