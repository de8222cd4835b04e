"""The language and the time zone in which a person reads: asked at first, then on their account."""

import pytest

from invoicing.models import User
from tests.administration import acts_written, read
from tests.browsers import sign_in_with
from tests.factories import UserFactory, give_password
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, read_form

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

PAGE = "/account/preferences"
CHOSEN = {"language": "de", "time_zone": "Europe/Berlin"}


@pytest.fixture
def newcomer():
    person = UserFactory.create(time_zone_chosen_at=None)
    give_password(person)
    return person


def shown_of(answer):
    form = read_form(answer)
    return {name: form[name] for name in CHOSEN}


def test_the_first_sign_in_asks_where_somebody_is_and_leads_on(browser, newcomer):
    answer = sign_in_with(browser, newcomer.email, next="/customers?q=a")
    assert answer["Location"] == f"{PAGE}?next=%2Fcustomers%3Fq%3Da"
    asked = browser.get(answer["Location"], headers={"accept-language": "de"})
    assert shown_of(asked) == {"language": "de", "time_zone": ""}
    assert 'href="/customers?q=a"' in main_of(asked)

    done = browser.post(PAGE, CHOSEN | {"next": "/customers?q=a"})

    assert done["Location"] == "/customers?q=a"
    kept = read(newcomer)
    assert (kept.language, kept.time_zone) == ("de", "Europe/Berlin")
    assert kept.time_zone_chosen_at is not None
    assert acts_written()[-1] == ("person:changed", str(newcomer.pk), "language, time_zone")
    browser.post("/sign-out")
    assert sign_in_with(browser, newcomer.email, next="/customers")["Location"] == "/customers"


def test_somebody_who_does_not_answer_goes_on_and_is_asked_at_the_next_sign_in(browser, newcomer):
    for _ in range(2):
        assert sign_in_with(browser, newcomer.email)["Location"] == f"{PAGE}?next=%2F"
        assert browser.get("/account").status_code == 200
        browser.post("/sign-out")
    assert read(newcomer).time_zone_chosen_at is None


def test_utc_is_proposed_to_nobody_and_can_be_chosen(sign_in, newcomer):
    browser = sign_in(newcomer)
    assert shown_of(browser.get(PAGE)) == {"language": "en", "time_zone": ""}
    assert "not chosen yet" in main_of(browser.get("/account"))
    browser.post(PAGE, {"language": "", "time_zone": "UTC"})
    assert shown_of(browser.get(PAGE)) == {"language": "", "time_zone": "UTC"}
    assert "not chosen yet" not in main_of(browser.get("/account"))
    assert acts_written()[-1] == ("person:changed", str(newcomer.pk), "time_zone")


def test_what_an_administrator_entered_is_proposed(sign_in, newcomer):
    User.objects.filter(pk=newcomer.pk).update(language="de", time_zone="Asia/Tokyo")
    shown = shown_of(sign_in(newcomer).get(PAGE))
    assert shown == {"language": "de", "time_zone": "Asia/Tokyo"}


def test_the_account_shows_and_changes_them(sign_in, person):
    browser = sign_in(person)
    assert "Language: as in your browser" in main_of(browser.get("/account"))
    answer = browser.post(PAGE, CHOSEN)
    assert answer["Location"] == "/account?preferences"
    said = main_of(browser.get(answer["Location"]))
    assert "Deutsch" in said
    assert "Europe/Berlin" in said


def test_the_same_choice_again_is_no_act(sign_in, person):
    browser = sign_in(person)
    browser.post(PAGE, CHOSEN)
    events = acts_written()
    browser.post(PAGE, CHOSEN)
    assert acts_written() == events


@pytest.mark.parametrize(
    "typed",
    [
        {"language": "tlh"},
        {"language": "fr"},
        {"time_zone": ""},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": "Factory"},
        {"time_zone": "/etc/passwd"},
    ],
)
def test_what_is_no_language_and_no_time_zone_changes_nothing(sign_in, person, typed):
    browser = sign_in(person)
    before, events = take_snapshot(), acts_written()
    assert browser.post(PAGE, CHOSEN | typed).status_code == 422
    assert (take_snapshot(), acts_written()) == (before, events)


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_nobody_is_led_to_another_site(sign_in, newcomer, elsewhere):
    browser = sign_in(newcomer)
    asked = browser.get(PAGE, {"next": elsewhere})
    assert "evil.example" not in main_of(asked)
    done = browser.post(PAGE, CHOSEN | {"next": elsewhere})
    assert done["Location"] == "/account?preferences"


def test_a_choice_ends_no_session_and_no_connection(sign_in, person, connect):
    _, agent = connect(person)
    here, elsewhere = sign_in(person), sign_in(person)
    here.post(PAGE, CHOSEN)
    assert elsewhere.get("/account").status_code == 200
    assert agent.call("tools.list").status == 200
