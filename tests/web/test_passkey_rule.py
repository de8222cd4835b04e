"""The day from which a password alone signs nobody in: before, exactly then, and after."""

from datetime import date
from io import StringIO

import orjson
import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from invoicing.administration.sign_ins import make_code
from invoicing.models import Company
from tests.administration import acting, acts_written
from tests.browsers import Browser, sign_in_with
from tests.factories import PASSWORD, give_password
from tests.passkeys import SoftPasskey, challenge_in
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


DAY = date(2026, 12, 1)
LAST_MOMENT, FIRST_MOMENT = "2026-11-30T23:59:59.999999+00:00", "2026-12-01T00:00:00+00:00"
COOKIE = "__Host-session"
BANNER = "From December 1, 2026 you need a passkey to sign in."
NO_PASSWORD_ALONE = "a password alone does not sign you in here"


@pytest.fixture(autouse=True)
def _before(time_machine, company) -> None:
    time_machine.move_to("2026-11-20T12:00:00+00:00", tick=False)


@pytest.fixture
def _day_is_chosen(company) -> None:
    Company.objects.update(passkeys_required_from=DAY)


def use_passkey(browser, soft, **fields: str):
    """Sign in by the page's own script; `fields` are the form's, and `attachment` the passkey's."""
    asked = orjson.loads(browser.post("/sign-in/passkey/options").content)["get"]
    assertion = soft.sign(challenge_in(asked), attachment=fields.pop("attachment", "platform"))
    return browser.post("/sign-in/passkey", {"assertion": assertion, **fields})


def has_session(browser) -> bool:
    return bool(browser.get("/account").status_code == 200)


def test_without_a_day_a_password_is_enough_and_no_page_says_a_word(browser, person):
    assert sign_in_with(browser, person.email).status_code == 302
    assert "need a passkey" not in text_of(browser.get("/account"))
    assert "need a passkey" not in text_of(Browser().get("/sign-in"))


def test_without_a_day_a_page_asks_the_database_nothing_more(sign_in, person):
    desk = sign_in(person)
    with CaptureQueriesContext(database) as captured:
        assert desk.get("/people").status_code == 200
    asked = [each["sql"] for each in captured if "passkeys_required_from" in each["sql"]]
    assert len([sql for sql in asked if 'FROM "django_session"' in sql]) == 1
    # The rest reads the whole company, as it did before.
    assert [sql for sql in asked if '"invoices_company"."name"' not in sql] == asked[:1]
    assert not [each for each in captured if "agent_passkeys" in each["sql"]]


@pytest.mark.usefixtures("_day_is_chosen")
@pytest.mark.parametrize("path", ["/account", "/documents", "/approvals", "/people"])
def test_before_the_day_every_page_tells_who_has_none(sign_in, person, path):
    said = text_of(sign_in(person).get(path))
    assert f"{BANNER} Ask the owner for a link to add one." in said


@pytest.mark.usefixtures("_day_is_chosen")
def test_before_the_day_the_administration_tells_an_owner_without_one_of_the_command(
    sign_in, owner
):
    said = text_of(sign_in(owner).get("/admin/"))
    assert BANNER in said
    assert "Whoever operates this service makes a link to add one:" in said


@pytest.mark.usefixtures("_day_is_chosen")
def test_before_the_day_nobody_with_a_passkey_is_told(sign_in, person, colleague):
    SoftPasskey().keep_for(person)
    assert "need a passkey" not in text_of(sign_in(person).get("/account"))
    assert BANNER in text_of(sign_in(colleague).get("/account"))


@pytest.mark.usefixtures("_day_is_chosen")
def test_a_password_opens_a_session_until_the_last_moment(browser, person, time_machine):
    time_machine.move_to(LAST_MOMENT, tick=False)
    assert sign_in_with(browser, person.email).status_code == 302
    assert has_session(browser)


@pytest.mark.usefixtures("_day_is_chosen")
def test_what_a_password_began_is_over_from_the_first_moment(browser, person, time_machine):
    time_machine.move_to(LAST_MOMENT, tick=False)
    sign_in_with(browser, person.email)
    key = browser.cookies[COOKIE].value
    time_machine.move_to(FIRST_MOMENT, tick=False)
    answer = browser.get("/people")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/people")
    browser.cookies[COOKIE] = key
    assert browser.post("/account/sign-out-everywhere").status_code == 302
    assert browser.get("/admin/").status_code == 302


@pytest.mark.usefixtures("_day_is_chosen")
def test_the_day_begins_in_utc_wherever_a_person_is(person, time_machine):
    person.time_zone = "Pacific/Auckland"
    person.save()
    time_machine.move_to(LAST_MOMENT, tick=False)  # 13:00 on the day itself in Auckland
    assert sign_in_with(Browser(), person.email).status_code == 302
    time_machine.move_to(FIRST_MOMENT, tick=False)
    assert sign_in_with(Browser(), person.email).status_code == 200


@pytest.mark.usefixtures("_day_is_chosen")
def test_what_a_passkey_began_goes_on_and_so_do_connections(person, connect, time_machine):
    soft, browser = SoftPasskey(), Browser()
    soft.keep_for(person)
    _, agent = connect(person)
    time_machine.move_to(LAST_MOMENT, tick=False)
    use_passkey(browser, soft)
    time_machine.move_to(FIRST_MOMENT, tick=False)
    assert has_session(browser)
    assert agent.call("tools.list").status == 200


@pytest.mark.usefixtures("_day_is_chosen")
@pytest.mark.parametrize("attachment", ["platform", "cross-platform"])
def test_a_passkey_on_a_phone_counts_as_well(person, attachment, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    soft, browser = SoftPasskey(), Browser()
    soft.keep_for(person)
    use_passkey(browser, soft, attachment=attachment)
    assert has_session(browser)


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_a_right_password_asks_for_the_passkey_and_keeps_where_to_go(
    browser, person, time_machine
):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    soft = SoftPasskey()
    soft.keep_for(person)

    answer = sign_in_with(browser, person.email, next="/people")

    assert answer.status_code == 200
    said = main_of(answer)
    assert f"Your password is right. Now use your passkey: {NO_PASSWORD_ALONE}." in said
    assert "Lost it? Ask Olivia Owner" in said
    assert 'name="next" value="/people"' in said
    assert 'name="password"' not in said
    assert PASSWORD not in said
    assert COOKIE not in browser.cookies
    assert not Session.objects.exists()
    assert not has_session(browser)
    assert use_passkey(browser, soft, next="/people")["Location"] == "/people"
    assert has_session(browser)


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_who_has_none_reads_whom_to_ask(browser, person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    said = main_of(sign_in_with(browser, person.email))
    assert f"Your password is right, but {NO_PASSWORD_ALONE}, and you have no passkey yet." in said
    assert "Ask Olivia Owner, who owns the company here, for a one-time link." in said
    assert "data-options" not in said


@pytest.mark.usefixtures("_day_is_chosen")
@pytest.mark.parametrize("has_one", [True, False])
def test_then_the_owner_reads_of_the_command(browser, owner, has_one, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    give_password(owner)
    if has_one:
        SoftPasskey().keep_for(owner)
    said = main_of(sign_in_with(browser, owner.email))
    assert "manage.py passkey_link" in said
    assert ("Lost it?" in said) is has_one


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_a_wrong_password_reads_as_before(browser, person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    answer = sign_in_with(browser, person.email, "wrong")
    assert answer.status_code == 422
    assert "This e-mail address and password cannot be used" in main_of(answer)
    assert "Your password is right" not in main_of(answer)
    nobody = sign_in_with(Browser(), "nobody@halden.example", "wrong")
    assert nobody.status_code == 422


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_nothing_is_written_for_a_password(browser, person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    before = take_snapshot()
    sign_in_with(browser, person.email)
    assert take_snapshot() == before


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_a_one_time_code_is_no_way_around(browser, owner, person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    SoftPasskey().keep_for(person)
    new = "another-long-password"
    form = {"code": make_code(acting(owner), person.pk), "password": new, "again": new}
    assert browser.post("/set-password", form).status_code == 200
    assert not has_session(browser)
    assert NO_PASSWORD_ALONE in main_of(sign_in_with(browser, person.email, new))
    assert not has_session(browser)


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_a_session_with_a_passkey_outlives_another_password(person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    soft, browser = SoftPasskey(), Browser()
    soft.keep_for(person)
    use_passkey(browser, soft)
    new = "another-long-password"
    form = {"current": PASSWORD, "password": new, "again": new}
    assert browser.post("/account", form).status_code == 302
    assert has_session(browser)


@pytest.mark.usefixtures("_day_is_chosen")
def test_then_what_was_typed_too_late_survives_both_steps(browser, person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    soft = SoftPasskey()
    soft.keep_for(person)
    asked = {"next": "/documents/new", "typed": "reference=PO+7"}
    said = main_of(sign_in_with(browser, person.email, **asked))
    assert 'name="typed" value="reference=PO+7"' in said
    kept = use_passkey(browser, soft, **asked)
    assert kept.status_code == 200
    assert "PO 7" in text_of(kept)


def test_when_the_day_is_taken_back_a_password_is_enough_again(browser, person, time_machine):
    time_machine.move_to(FIRST_MOMENT, tick=False)
    Company.objects.update(passkeys_required_from=DAY)
    assert sign_in_with(browser, person.email).status_code == 200
    Company.objects.update(passkeys_required_from=None)
    assert sign_in_with(browser, person.email).status_code == 302


# The last passkey


def remove(desk, soft, passkey):
    path = f"/account/passkeys/{passkey.pk}/remove"
    about = {"purpose": "remove", "about": str(passkey.pk)}
    asked = orjson.loads(desk.post("/account/passkeys/options", about).content)["get"]
    return desk.post(path, {"assertion": soft.sign(challenge_in(asked))})


@pytest.mark.usefixtures("_day_is_chosen")
def test_the_last_passkey_stays_once_a_day_is_chosen(sign_in, person):
    soft = SoftPasskey()
    kept = soft.keep_for(person)
    answer = remove(sign_in(person), soft, kept)
    assert answer.status_code == 422
    assert "so your last one stays. Add another one first." in main_of(answer)
    kept.refresh_from_db()
    assert kept.removed_at is None
    assert acts_written() == [("passkey:refused", str(person.pk), "last_one")]


@pytest.mark.usefixtures("_day_is_chosen")
def test_of_two_passkeys_one_can_go(sign_in, person):
    soft = SoftPasskey()
    kept = soft.keep_for(person)
    SoftPasskey().keep_for(person)
    assert remove(sign_in(person), soft, kept).status_code == 302
    kept.refresh_from_db()
    assert kept.removed_at is not None


def test_without_a_day_the_last_one_can_go(sign_in, person):
    soft = SoftPasskey()
    assert remove(sign_in(person), soft, soft.keep_for(person)).status_code == 302


# Ways back


@pytest.mark.usefixtures("_day_is_chosen")
def test_when_nobody_gets_in_any_more_the_operator_helps_the_owner(browser, owner, time_machine):
    """A lost passkey, and the day has come: a link and the password give another one."""
    time_machine.move_to(FIRST_MOMENT, tick=False)
    lost = SoftPasskey()
    lost.keep_for(owner)
    give_password(owner)
    output = StringIO()
    call_command("passkey_link", owner.email, stdout=output)
    link = output.getvalue().strip().rpartition("#")[2]

    browser.get("/passkeys/link")
    form = {"link": link, "password": PASSWORD}
    asked = orjson.loads(browser.post("/passkeys/link/options", form).content)["create"]
    new = SoftPasskey()
    registration = new.register(challenge_in(asked))
    done = browser.post(
        "/passkeys/link", {"link": link, "name": "New phone", "registration": registration}
    )

    assert done.status_code == 200
    assert not has_session(browser)
    assert use_passkey(browser, lost).status_code == 422
    assert use_passkey(browser, new).status_code == 302
    assert browser.get("/admin/").status_code == 200
