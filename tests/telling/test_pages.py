"""Where people choose how they are told: without scripts, and for themselves alone."""

import json
from datetime import time
from uuid import uuid4

import pytest
from django.core import mail
from django.core.exceptions import PermissionDenied

from agent_access.telling import views
from agent_access.telling.models import Device, MutedConnection, Problem
from agent_access.telling.preferences import mute, read_preferences
from agent_access.telling.user_agents import name_browser
from tests.browsers import Browser
from tests.interface.issuing import prepare
from tests.snapshots import take_snapshot
from tests.telling.push_service import PushBrowser
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


PAGE = "/account/notifications"
SAVED = "/account?saved#told"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"

SAFARI = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36"


@pytest.fixture
def mail_on(settings) -> None:
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}


@pytest.fixture
def desk(sign_in, delegate):
    return sign_in(delegate)


def test_a_browser_is_added_told_of_and_removed(desk, delegate, push_service):
    given = {"subscription": json.dumps(PushBrowser(push_service).subscription)}
    answer = desk.post(f"{PAGE}/browsers", given, headers={"User-Agent": WINDOWS})
    assert (answer.status_code, answer["Location"]) == (302, SAVED)
    device = Device.objects.get()
    assert (device.person, device.name) == (delegate, "Firefox, Windows")

    Device.objects.update(problem=Problem.REFUSED)
    page = main_of(desk.get(SAVED))
    assert "It is saved." in page
    assert (
        f'<h3>Firefox, Windows</h3> <p class="quiet">Added {device.added_at:%Y-%m-%d %H:%M}' in page
    )
    assert "told through push.example. Not told of anything yet." in page
    assert "It refused the message." in page

    tested = main_of(desk.post(f"{PAGE}/test"))
    assert '<p class="text">Firefox, Windows: sent. If nothing appears, look at' in tested
    assert "Last told" in tested
    assert "It refused the message." not in tested

    assert desk.post(f"{PAGE}/browsers/{device.pk}/remove")["Location"] == SAVED
    assert not Device.objects.exists()
    assert "No browser shows you notifications yet." in main_of(desk.get("/account"))


@pytest.mark.parametrize("sent", ["", "{", "null", "[]", '{"endpoint": "http://push.example/1"}'])
def test_what_is_no_subscription_is_refused(desk, push_on, sent):
    before = take_snapshot()
    answer = desk.post(f"{PAGE}/browsers", {"subscription": sent})
    assert answer.status_code == 422
    assert "This browser gave no address to which notifications can be sent." in main_of(answer)
    assert take_snapshot() == before


def test_a_browser_too_many_is_refused_in_words(desk, delegate, push_service, subscribe):
    for _ in range(10):
        subscribe(delegate)
    before = take_snapshot()
    given = {"subscription": json.dumps(PushBrowser(push_service).subscription)}
    answer = desk.post(f"{PAGE}/browsers", given)
    assert answer.status_code == 422
    assert "Notifications go to at most 10 browsers: remove one first." in main_of(answer)
    assert take_snapshot() == before


def test_choices_are_kept_as_they_were_made(desk, delegate, push_on, mail_on):
    chosen = {
        **dict.fromkeys(("by_mail", "wants_digest", "shows_details"), "on"),
        "quiet_from": "22:00",
        "quiet_until": "06:30",
    }
    assert desk.post(f"{PAGE}/choices", chosen)["Location"] == SAVED
    kept = read_preferences(delegate)
    assert (kept.by_mail, kept.wants_digest, kept.shows_details) == (True, True, True)
    assert (kept.quiet_from, kept.quiet_until) == (time(22), time(6, 30))
    page = main_of(desk.get("/account"))
    assert f"Tell me by mail to {delegate.email}" in page
    assert "Show customer and amount in notifications" in page
    assert page.count(" checked") == 3
    assert all(f'value="{clock}"' in page for clock in ("22:00", "06:30"))

    assert desk.post(f"{PAGE}/choices", {})["Location"] == SAVED
    kept = read_preferences(delegate)
    assert (kept.by_mail, kept.wants_digest, kept.shows_details) == (False, False, False)
    assert kept.quiet_from is None


@pytest.mark.parametrize(
    ("hours", "problem"),
    [
        ({"quiet_from": "22:00"}, "Quiet hours need a beginning and another end, or neither."),
        ({"quiet_from": "25:00", "quiet_until": "6"}, "Enter a valid time."),
    ],
)
def test_half_of_quiet_hours_is_refused_and_shown_as_typed(desk, mail_on, hours, problem):
    before = take_snapshot()
    answer = desk.post(f"{PAGE}/choices", {"by_mail": "on"} | hours)
    assert answer.status_code == 422
    page = main_of(answer)
    assert problem in page
    assert all(f'value="{typed}"' in page for typed in hours.values())
    assert "<title>Please correct: Notifications · Invoicing</title>" in text_of(answer)
    assert take_snapshot() == before


def test_what_is_not_set_up_is_not_offered_and_the_owner_reads_why(sign_in, desk, owner):
    assert "told" not in main_of(desk.get("/account"))
    page = main_of(sign_in(owner).get("/account"))
    assert "whoever operates this service has to set WEB_PUSH_KEY." in page
    assert "whoever operates this service has to set up mail." in page
    assert PAGE not in page
    before = take_snapshot()
    assert desk.post(f"{PAGE}/browsers", {"subscription": "{}"}).status_code == 404
    assert take_snapshot() == before


def test_what_was_chosen_of_mail_stays_while_none_can_be_sent(
    desk, delegate, push_on, mail_on, settings
):
    desk.post(f"{PAGE}/choices", {"by_mail": "on"})
    settings.AGENT_ACCESS |= {"MAIL_FROM": ""}
    assert "by mail" not in main_of(desk.get("/account"))
    desk.post(f"{PAGE}/choices", {"shows_details": "on"})
    kept = read_preferences(delegate)
    assert (kept.by_mail, kept.shows_details) == (True, True)


def test_a_test_says_of_mail_what_happened_and_waits_half_a_minute(desk, mail_on):
    desk.post(f"{PAGE}/choices", {"by_mail": "on"})
    said = "Mail: sent. If none arrives, look among unwanted mail."
    assert said in main_of(desk.post(f"{PAGE}/test"))
    assert "Wait half a minute before the next test." in main_of(desk.post(f"{PAGE}/test"))
    assert len(mail.outbox) == 1


def test_a_card_mutes_its_connection_and_the_account_unmutes_it(
    desk, agent, draft_body, mail_on, connection
):
    draft = agent.call("drafts.create", draft_body, key="draft").data
    prepare(agent, draft["id"])
    path = f"{PAGE}/connections/{connection.pk}"
    assert f'formaction="{path}/mute">Mute its notifications' in main_of(desk.get("/approvals"))
    assert desk.post(f"{path}/mute")["Location"] == "/account?saved#muted"
    page = main_of(desk.get("/account"))
    assert '<h2 id="muted">' in page
    assert '<a href="/approvals">' in page
    assert "<h3>Test agent</h3>" in page
    assert f'action="{path}/unmute"' in page
    assert "Mute its notifications" in main_of(desk.get("/approvals"))  # it waits all the same
    assert desk.post(f"{path}/unmute")["Location"] == SAVED
    assert not MutedConnection.objects.exists()


def test_where_nobody_is_told_of_anything_there_is_nothing_to_mute(desk, agent, draft_body):
    draft = agent.call("drafts.create", draft_body, key="draft").data
    prepare(agent, draft["id"])
    page = main_of(desk.get("/approvals"))
    assert "Reject everything from it" in page
    assert "Mute" not in page


def test_nobody_changes_how_another_person_is_told(
    sign_in, colleague, delegate, browser, connection
):
    mute(delegate, connection.pk)
    [device], other = Device.objects.all(), sign_in(colleague)
    before = take_snapshot()
    other.post(f"{PAGE}/browsers/{device.pk}/remove")
    other.post(f"{PAGE}/connections/{connection.pk}/unmute")
    for pk in (connection.pk, uuid4()):
        assert other.post(f"{PAGE}/connections/{pk}/mute").status_code == 404
    assert take_snapshot() == before
    assert "Firefox" not in main_of(other.get("/account"))


@pytest.mark.parametrize("act", ["choices", "test", "browsers"])
def test_a_forged_form_changes_nothing(delegate, push_on, act):
    forged = Browser(enforce_csrf_checks=True)
    forged.force_login(delegate)
    before = take_snapshot()
    given = {"shows_details": "on", "subscription": "{}"}
    answer = forged.post(f"{PAGE}/{act}", given, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert take_snapshot() == before
    # As after signing in again, which leads to the address of the form.
    assert forged.get(f"{PAGE}/{act}")["Location"] == "/account"


def test_the_script_for_notifications_needs_no_sign_in_and_is_kept_nowhere(db):
    answer = Browser().get("/service-worker.js")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/javascript")
    assert answer["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer
    assert "showNotification" in answer.content.decode()


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (WINDOWS, "Firefox, Windows"),
        (f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) {SAFARI}", "Safari, iPhone"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {CHROME}", "Chrome, Android"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {CHROME} Edg/137.0.0.0", "Edge, Mac"),
        ("", "Browser"),
    ],
)
def test_a_browser_is_called_as_people_call_it(user_agent, name):
    assert name_browser(user_agent) == name


def test_a_project_has_the_page_as_it_comes_in_the_language_of_its_people(
    settings, delegate, desk, mail_on, push_on
):
    settings.ROOT_URLCONF = "tests.telling.host_urls"
    there = "/notifications?saved#told"
    assert desk.post("/notifications/choices", {"by_mail": "on"})["Location"] == there
    page = main_of(desk.get(there))
    assert "<h1>Notifications</h1>" in page
    assert 'data-worker="/service-worker.js"' in page
    page = main_of(desk.get(there, headers={"accept-language": "de"}))
    assert "Test senden" in page
    assert f"Per E-Mail an {delegate.email} benachrichtigen" in page
    assert Browser().get("/notifications")["Location"] == "/sign-in?next=/notifications"


@pytest.mark.parametrize(
    ("view", "given"),
    [
        (views.choose, {"shows_details": "on"}),
        (views.add, {"subscription": "{}"}),
        (views.try_out, {}),
    ],
)
def test_a_program_that_is_known_by_a_token_of_the_person_changes_nothing(
    rf, delegate, push_on, view, given
):
    request = rf.post("/", given)
    request.user, request.session = delegate, {}
    before = take_snapshot()
    with pytest.raises(PermissionDenied):
        view(request)
    assert take_snapshot() == before
