"""Before a sensitive act a page asks again who is there: for the passkey, or else the password."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import reverse

from agent_access.models import AccessSettings, AuditEvent, Connection
from invoicing.models import Role, User
from tests.admin.forms import form_of, url_of
from tests.factories import UserFactory
from tests.oauth.programs import make_program
from tests.passkeys import SoftPasskey, confirm_page
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, read_form

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


LACKS = "Nothing was done yet: this needs your {} as well."
WRONG = {
    "password": "This is not your password.",
    "passkey": "The passkey did not confirm this page, here and now. Use it once more.",
}
SENSITIVE = ("connection", "switch", "consent", "code", "link", "email", "right", "role", "new")
# What a visit writes, or a passkey uses up, and nobody did anything by it.
ASIDE = (
    *("sessions.Session", "agent_access.AccessSettings", "agent_access.ChainHead"),
    *("agent_access.AuditEvent", "agent_passkeys.Challenge", "agent_passkeys.Passkey"),
)


@dataclass
class Form:
    """A form of a page, filled in for a sensitive act, without its confirmation."""

    path: str
    fields: dict[str, Any]

    def send(self, desk: Any, **confirmation: Any) -> Any:
        return desk.post(self.path, {**self.fields, "own_password": None, **confirmation})


@pytest.fixture(params=SENSITIVE)
def form(request, owner_desk, owner, delegate, access_on) -> Form:
    return make_form(request.param, owner_desk, delegate, request)


def make_form(kind: str, desk: Any, person: User, request: Any) -> Form:
    terms = {"acts_as": str(person.pk), "scopes": ["customers:read"], "expires_in_days": "7"}
    fields: dict[str, Any] = {}
    match kind:
        case "connection":
            path = "/admin/agent_access/connection/add/"
            fields = read_form(desk.get(path)) | terms | {"name": "Typed name"}
        case "switch":
            AccessSettings.objects.update(access_on=False)
            path, fields = "/admin/agent_access/accesssettings/access/", {"state": "on"}
        case "consent":
            request.getfixturevalue("sign_in_on")
            path = make_program("https://client.example/").authorize_path(scope="customers:read")
            fields = read_form(desk.get(path)) | terms | {"decision": "allow"}
        case "code":
            path = reverse("admin:one-time-link", args=[person.pk])
        case "link":
            path = reverse("admin:passkey-link", args=[person.pk])
        case _:
            return make_record_form(kind, desk, person)
    return Form(path, fields)


def make_record_form(kind: str, desk: Any, person: User) -> Form:
    role = Role.objects.create(name="Reader")
    changed: dict[str, Any]
    match kind:
        case "new":
            path = reverse("admin:invoices_user_add")
            changed = {"name": "Typed name", "email": "new@halden.example", "is_staff": "on"}
        case "email":
            path, changed = url_of(person), {"email": "typed@halden.example"}
        case "right":
            path, changed = url_of(person), {"groups": [str(role.pk)]}
        case _:
            path, changed = url_of(role), {"permissions": read_choices(desk, role)[:1]}
    return Form(path, form_of(desk.get(path)) | changed)


def read_choices(desk: Any, role: Any) -> list[str]:
    choices = desk.get(url_of(role)).context["adminform"].form.fields["permissions"].choices
    return [str(value) for value, _ in choices]


def what_is_kept() -> dict[str, Any]:
    return {name: rows for name, rows in take_snapshot().items() if name not in ASIDE}


def is_done(answer: Any) -> bool:
    return answer.status_code in {200, 302}


def refusals() -> list[tuple[str, str]]:
    found = AuditEvent.objects.filter(action="confirmation:refused")
    return list(found.values_list("outcome", "detail"))


def assert_refused(form: Form, desk: Any, sentence: str, **confirmation: Any) -> None:
    before = what_is_kept()
    answer = form.send(desk, **confirmation)
    assert answer.status_code == 422
    said = main_of(answer)
    assert sentence in said
    assert what_is_kept() == before
    for typed in {"Typed name", "typed@halden.example"} & set(map(str, form.fields.values())):
        assert f'value="{typed}"' in said


def test_without_the_password_nothing_is_done_and_with_it_all_is(form, owner_desk):
    assert_refused(form, owner_desk, LACKS.format("password"))
    assert_refused(form, owner_desk, WRONG["password"], own_password="another-long-password")
    assert_refused(form, owner_desk, LACKS.format("password"), assertion="{}")
    before = what_is_kept()
    assert is_done(form.send(owner_desk, own_password=""))
    assert what_is_kept() != before or not AccessSettings.objects.filter(access_on=False).exists()


# A passkey confirms not the page of a passkey link but exactly that link: test_books_passkeys.
@pytest.mark.parametrize("form", [each for each in SENSITIVE if each != "link"], indirect=True)
def test_whoever_has_a_passkey_confirms_with_it_and_not_with_the_password(form, owner_desk, owner):
    soft = SoftPasskey()
    soft.keep_for(owner)
    assert_refused(form, owner_desk, LACKS.format("passkey"), own_password="")
    assert_refused(form, owner_desk, WRONG["passkey"], assertion="{}")
    assert refusals() == [("refused", "passkey")]
    assert is_done(form.send(owner_desk, assertion=confirm_page(owner_desk, form.path, soft)))


@pytest.fixture
def link(request, owner_desk, delegate) -> Form:
    return make_form("code", owner_desk, delegate, request)


@pytest.fixture
def soft(owner) -> SoftPasskey:
    soft = SoftPasskey()
    soft.keep_for(owner)
    return soft


def test_a_passkey_confirms_one_post_only(link, owner_desk, soft):
    used = confirm_page(owner_desk, link.path, soft)
    assert is_done(link.send(owner_desk, assertion=used))
    assert_refused(link, owner_desk, WRONG["passkey"], assertion=used)


def test_a_passkey_confirms_no_other_page(link, owner_desk, soft):
    elsewhere = confirm_page(owner_desk, f"{link.path}?x", soft)
    assert_refused(link, owner_desk, WRONG["passkey"], assertion=elsewhere)


def test_a_passkey_confirms_in_no_other_session(link, owner_desk, soft, sign_in, owner):
    elsewhere = confirm_page(sign_in(owner), link.path, soft)
    assert_refused(link, owner_desk, WRONG["passkey"], assertion=elsewhere)


def test_another_persons_passkey_confirms_nothing(link, owner_desk, soft, delegate):
    theirs = SoftPasskey()
    theirs.keep_for(delegate)
    assertion = confirm_page(owner_desk, link.path, theirs)
    assert_refused(link, owner_desk, WRONG["passkey"], assertion=assertion)


def test_a_passkey_without_user_verification_confirms_nothing(link, owner_desk, soft):
    assertion = confirm_page(owner_desk, link.path, soft, verifies=False)
    assert_refused(link, owner_desk, WRONG["passkey"], assertion=assertion)


def test_guessing_the_password_ends_soon_for_all_pages_together(link, owner_desk, time_machine):
    time_machine.move_to("2026-11-20T23:00:00+00:00", tick=False)
    for _ in range(10):
        assert link.send(owner_desk, own_password="a-wrong-password").status_code == 422
    before = what_is_kept()
    answer = link.send(owner_desk, own_password="")
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")
    assert "Too many attempts. Please wait 5 minutes and try again." in main_of(answer)
    assert what_is_kept() == before


def test_a_right_password_is_not_counted(link, owner_desk):
    assert {link.send(owner_desk, own_password="").status_code for _ in range(12)} == {200}


def test_what_is_not_sensitive_is_saved_without_being_asked(owner_desk, delegate):
    form = form_of(owner_desk.get(url_of(delegate))) | {"job_title": "Lead bookkeeper"}
    assert Form(url_of(delegate), form).send(owner_desk).status_code == 302
    delegate.refresh_from_db()
    assert delegate.job_title == "Lead bookkeeper"


def test_refusing_a_client_and_turning_off_need_no_confirmation(
    owner_desk, delegate, access_on, request
):
    consent = make_form("consent", owner_desk, delegate, request)
    consent.fields["decision"] = "refuse"
    assert consent.send(owner_desk).status_code == 302
    off = Form("/admin/agent_access/accesssettings/access/", {"state": "off"})
    assert off.send(owner_desk).status_code == 302
    assert not AccessSettings.objects.get().access_on
    assert not Connection.objects.exists()


def test_a_new_person_without_rights_needs_no_confirmation(owner_desk, company):
    path = reverse("admin:invoices_user_add")
    fields = {"name": "Nora New", "email": "nora@halden.example"}
    assert Form(path, form_of(owner_desk.get(path)) | fields).send(owner_desk).status_code == 302
    assert User.objects.filter(name="Nora New").exists()


def test_a_page_that_nobody_can_name_gets_no_challenge(owner_desk, soft):
    for page in ("", "x", "g" * 64, "a" * 65):
        assert owner_desk.post(f"/account/passkeys/confirm?page={page}").status_code == 404


def test_somebody_else_without_rights_is_not_even_asked(sign_in, link):
    stranger = UserFactory.create()
    assert link.send(sign_in(stranger), own_password="").status_code == 403
