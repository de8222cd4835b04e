"""An auditor gets to evidence and their own account, on no other way, and only until their day."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from agent_access.connections import ConnectionNotAllowedError
from agent_access.models import AuditEvent
from invoicing.access import Permission
from invoicing.administration.people import change_person, digest_person
from invoicing.models import Document, User
from invoicing.rights import may_read_evidence
from tests.administration import acting, read
from tests.browsers import sign_in_with
from tests.factories import (
    PASSWORD,
    UserFactory,
    give_password,
    grant,
    make_auditor,
    make_issued,
    withdraw,
)
from tests.interface.refusals import nothing_changes
from tests.passkeys import SoftPasskey
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.django_db

TODAY = date(2026, 3, 2)
EVENING = datetime(2026, 3, 2, 18, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 3, tzinfo=UTC)

# What an auditor may use, and with which method; all else that needs a sign-in is closed to them.
OPEN = {
    "home": 302,
    "account": 200,
    "preferences": 200,
    "page": 200,
    "evidence": 200,
    "evidence-of": 200,
    "evidence-pdf": 404,
    "evidence-xrechnung": 404,
    "evidence-peppol": 404,
    "logo": 404,
    "sign-out": 405,
    "end-own-sessions": 405,
}
# These let nobody in by a session, or show everybody the same; of passkeys, see below.
FOR_PROGRAMS = ("/mcp", "/api/v1", "/.well-known/", "/oauth/register", "/oauth/token")
PASSKEYS = ("/sign-in/passkey", "/account/passkeys", "/passkeys/link")
FOR_ALL = {"sign-in", "set-password", "service-worker", "login", "revoke"}
OVER = "Your time as an auditor is over"


@pytest.fixture
def clock(time_machine) -> Any:
    time_machine.move_to(EVENING, tick=False)
    return time_machine


@pytest.fixture
def issued(company) -> Document:
    return make_issued()


@pytest.fixture
def auditor(clock, company) -> User:
    return make_auditor(TODAY, name="Ute Auditor", email="ute@audit.example")


@pytest.fixture
def desk(sign_in, auditor) -> Any:
    return sign_in(auditor)


def all_routes(patterns: Any = None, prefix: str = "/") -> Iterator[tuple[str, str, Any]]:
    """Yield name, path with parameters in brackets, and view of every route there is."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(each.pattern).lstrip("^")
        if isinstance(each, URLResolver):
            yield from all_routes(each.url_patterns, path)
        elif isinstance(each, URLPattern):
            yield str(each.name), path, each.callback


def fill(path: str, pk: object) -> str:
    """Return the path with values for its parameters, and something for what it leaves open."""
    path = path.replace("<slug:digest>", "a" * 64).replace("<slug:name>", "access")
    path = path.replace("(?P<app_label>invoices|agent_access|agent_oauth)/$", "invoices/")
    path = path.replace("(?P<url>.*)$", "nothing")
    return re.sub(r"<int:\w+>", "1", re.sub(r"<(?:agent_access_id|path):\w+>", str(pk), path))


def pages() -> list[tuple[str, str]]:
    return [
        (name, path)
        for name, path, view in all_routes()
        if not path.startswith((*FOR_PROGRAMS, *PASSKEYS)) and name not in FOR_ALL
    ]


@pytest.mark.sqlite  # who may open which page: no database decides that
@pytest.mark.parametrize("other_rights", [False, True])
def test_of_all_pages_only_those_of_evidence_and_the_account_are_open(
    desk, auditor, issued, sign_in_on, other_rights, subtests
):
    """Whatever a careless role, or a flag set in the database, gives them besides."""
    if other_rights:
        grant(auditor, *Permission)
        User.objects.filter(pk=auditor.pk).update(is_staff=True, is_superuser=True)
        desk.force_login(read(auditor))
    assert len(pages()) > 80
    for name, path in pages():
        with subtests.test(path=path):
            answers = [desk.get(fill(path, issued.pk)).status_code]
            if name not in OPEN:
                with nothing_changes():
                    answers.append(desk.post(fill(path, issued.pk)).status_code)
            assert answers == [OPEN[name]] if name in OPEN else [403, 403]


def test_their_start_page_is_the_list_of_evidence_and_leads_nowhere_else(desk, issued):
    assert desk.get("/")["Location"] == "/evidence"
    page = text_of(desk.get("/evidence"))
    assert re.findall(r'<a[^>]* href="(/[^"]*)"', page) == [
        *("/", "/evidence", "/account"),
        f"/evidence/{issued.pk}",
    ]
    assert "data-ask" not in page
    assert "asking.js" not in page


def test_their_account_is_a_password_and_no_notifications(desk, auditor):
    give_password(auditor)
    desk.force_login(read(auditor))
    page = main_of(desk.get("/account"))
    assert "Change your password" in page
    assert "notification" not in page.lower()
    new = "another-long-password-of-theirs"
    form = {"current": PASSWORD, "password": new, "again": new}
    assert desk.post("/account", form)["Location"] == "/account?changed"


def test_their_own_passkeys_are_theirs_to_keep_until_their_day(desk, auditor, clock):
    """Else the owner's demand of passkeys would shut them out."""
    passkey = SoftPasskey().keep_for(auditor)
    assert "passkey" in main_of(desk.get("/account")).lower()
    rename = f"/account/passkeys/{passkey.pk}/rename"
    assert desk.post(rename, {"name": "My phone"}).status_code == 302
    clock.move_to(MIDNIGHT, tick=False)
    assert desk.post(rename, {"name": "Mine no more"}).status_code == 403
    passkey.refresh_from_db()
    assert passkey.name == "My phone"


def test_the_last_day_ends_at_midnight_utc_and_then_nothing_is_shown(desk, clock, issued):
    clock.move_to(MIDNIGHT - timedelta(microseconds=1), tick=False)
    assert desk.get("/evidence").status_code == 200
    clock.move_to(MIDNIGHT, tick=False)
    with nothing_changes():
        for path in ("/", "/evidence", f"/evidence/{issued.pk}", "/account", "/documents"):
            answer = desk.get(path)
            assert (answer.status_code, OVER in main_of(answer)) == (403, True), path
            assert str(issued.number) not in text_of(answer)
    assert "March 2, 2026 (UTC)" in main_of(desk.get("/evidence"))
    assert desk.post("/sign-out")["Location"] == "/sign-in"


def test_who_signs_in_after_the_last_day_reads_only_that_it_is_over(browser, auditor, clock):
    give_password(auditor)
    clock.move_to(MIDNIGHT, tick=False)
    assert sign_in_with(browser, auditor.email)["Location"] == "/"
    assert OVER in main_of(browser.get("/"))


@pytest.mark.parametrize("day", [TODAY, None])
def test_a_day_brought_forward_or_taken_away_ends_the_session(
    sign_in, superuser, auditor, clock, issued, day
):
    User.objects.filter(pk=auditor.pk).update(audits_until=TODAY + timedelta(days=30))
    desk = sign_in(read(auditor))
    assert desk.get("/evidence").status_code == 200
    change = {"audits_until": day}
    change_person(acting(superuser), auditor.pk, change, seen=digest_person(read(auditor)))
    assert desk.get("/evidence")["Location"] == "/sign-in?next=/evidence"
    desk.force_login(read(auditor))
    assert desk.get("/evidence").status_code == (200 if day else 403)


def test_a_later_day_ends_no_session(desk, superuser, auditor):
    change = {"audits_until": TODAY + timedelta(days=30)}
    change_person(acting(superuser), auditor.pk, change, seen=digest_person(read(auditor)))
    assert desk.get("/evidence").status_code == 200


def test_a_day_that_was_shortened_in_the_database_counts_at_once(desk, auditor, clock):
    User.objects.filter(pk=auditor.pk).update(audits_until=TODAY - timedelta(days=1))
    assert OVER in main_of(desk.get("/evidence"))


def test_a_deactivated_auditor_is_signed_out(desk, auditor):
    User.objects.filter(pk=auditor.pk).update(is_active=False)
    assert desk.get("/evidence")["Location"] == "/sign-in?next=/evidence"


def test_without_the_permission_the_day_opens_nothing(desk, auditor):
    withdraw(auditor, Permission.AUDIT)
    assert desk.get("/evidence").status_code == 403


def test_a_guest_with_the_permission_but_no_day_opens_nothing(sign_in, clock, issued):
    guest = UserFactory.create(is_guest=True, permissions=[Permission.AUDIT])
    desk = sign_in(guest)
    for path in ("/evidence", f"/evidence/{issued.pk}", f"/evidence/{issued.pk}/pdf"):
        assert desk.get(path).status_code == 403
    assert 'href="/evidence"' not in text_of(desk.get("/approvals"))


def test_the_owner_a_superuser_and_a_holder_of_the_permission_read_evidence_and_nobody_else(
    sign_in, owner, superuser, issued
):
    holder = UserFactory.create(permissions=[Permission.AUDIT])
    stranger = UserFactory.create(
        permissions=[each for each in Permission if each != "invoices.audit"]
    )
    for person, status in ((owner, 200), (superuser, 200), (holder, 200), (stranger, 403)):
        desk = sign_in(person)
        assert desk.get("/evidence").status_code == status
        assert desk.get(f"/evidence/{issued.pk}").status_code == status
        assert ('href="/evidence"' in text_of(desk.get("/approvals"))) is (status == 200)


def test_a_day_makes_no_colleague_an_auditor_and_closes_nothing_to_them(clock, sign_in, company):
    colleague = UserFactory.create(audits_until=TODAY, permissions=[Permission.VIEW_DOCUMENT])
    assert not may_read_evidence(colleague)
    assert sign_in(colleague).get("/documents").status_code == 200


def test_no_connection_acts_for_an_auditor(connect, auditor):
    grant(auditor, *Permission)
    with nothing_changes(), pytest.raises(ConnectionNotAllowedError):
        connect(auditor)


def test_the_connection_of_a_colleague_who_becomes_an_auditor_ends(connect, superuser, clock):
    colleague = UserFactory.create(permissions=[Permission.VIEW_DOCUMENT])
    _, agent = connect(colleague)
    changes = {"is_guest": True, "audits_until": TODAY, "user_permissions": []}
    change_person(acting(superuser), colleague.pk, changes, seen=digest_person(read(colleague)))
    assert agent.call("tools.list").status == 401


def test_an_auditor_cannot_ask_the_owner_for_a_connection(desk, auditor, sign_in_on):
    grant(auditor, *Permission)
    with nothing_changes():
        for method in (desk.get, desk.post):
            assert method("/oauth/authorize?client_id=x").status_code in {400, 403}


def test_downloads_and_opened_evidence_are_in_the_audit_and_lists_are_not(desk, auditor, issued):
    before = AuditEvent.objects.count()
    desk.get("/evidence?search=x")
    desk.head(f"/evidence/{issued.pk}")
    assert AuditEvent.objects.count() == before
    desk.get(f"/evidence/{issued.pk}")
    event = AuditEvent.objects.latest("id")
    told = (event.action, event.target, event.actor_id, event.transport)
    assert told == ("document:evidence_opened", str(issued.pk), auditor.pk, "web")
    assert AuditEvent.objects.count() == before + 1
