"""The owner requires passkeys from a day on, and gives people links to add one."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from agent_access.models import AuditEvent
from agent_access.passkeys.links import LinkInvalidError, read_link_token
from agent_access.verification import find_breaks
from invoicing.models import Company, User
from tests.administration import acts_written, make_administrator
from tests.factories import UserFactory, give_password
from tests.passkeys import SoftPasskey, confirm_page
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_clock")]

URL = "/admin/invoices/company/passkeys"
# What an assertion uses up.
USED = {"agent_passkeys.Challenge", "agent_passkeys.Passkey", "agent_access.ChainHead"}
LINK = "https://invoices.example/passkeys/link#"
TODAY, TOMORROW, YESTERDAY = "2026-11-20", "2026-11-21", "2026-11-19"


@pytest.fixture
def _clock(time_machine) -> None:
    time_machine.move_to("2026-11-20T23:00:00+00:00", tick=False)


@pytest.fixture
def owner(owner: User) -> User:
    give_password(owner)
    return owner


@pytest.fixture
def desk(sign_in, owner):
    desk = sign_in(owner)
    desk.soft = SoftPasskey()
    desk.soft.keep_for(owner)
    return desk


def choose(desk, day: str, assertion: str | None = None):
    """Send the form, confirmed with the passkey of whose desk it is, if they have one."""
    if assertion is None and hasattr(desk, "soft"):
        assertion = confirm_page(desk, URL, desk.soft)
    return desk.post(URL, {"day": day, "assertion": assertion or ""})


def chosen() -> str | None:
    day = Company.objects.get().passkeys_required_from
    return day and day.isoformat()


def assert_refused(desk, day: str, sentence: str, *, assertion: str | None = None) -> None:
    before, events = take_snapshot(), acts_written()
    answer = choose(desk, day, assertion)
    assert answer.status_code == 422
    assert sentence in main_of(answer)
    assert acts_written() == events
    after = take_snapshot()
    aside = {"sessions.Session", "agent_access.AccessSettings", *USED}
    assert {name for name in after if after[name] != before[name]} <= aside


def test_nothing_is_required_until_the_owner_says_so(desk):
    assert chosen() is None
    page = main_of(desk.get(URL))
    assert "You can require one of everybody, from a day on." in page
    assert "The earliest day is November 21, 2026." not in page  # nobody else is active
    assert "The earliest day is November 20, 2026." in page
    assert f'href="{URL}"' in main_of(desk.get("/admin/invoices/company/", follow=True))


def test_the_owner_requires_passkeys_from_a_day_on_and_takes_it_back(desk, owner, delegate):
    assert choose(desk, "2026-12-01").status_code == 302
    assert chosen() == "2026-12-01"
    page = main_of(desk.get(URL))
    assert "From December 1, 2026 on nobody signs in without a passkey." in page
    assert choose(desk, "").status_code == 302
    assert chosen() is None
    company = str(Company.objects.get().pk)
    assert acts_written() == [
        ("passkeys:required", company, "from 2026-12-01"),
        ("passkeys:required", company, "of nobody"),
    ]
    event = AuditEvent.objects.filter(action="passkeys:required").first()
    assert (event.actor_id, event.client_address) == (owner.id, "127.0.0.1")
    assert list(find_breaks()) == []


def test_the_same_day_again_is_no_act(desk, delegate):
    choose(desk, "2026-12-01")
    choose(desk, "2026-12-01")
    assert len(acts_written()) == 1


def test_the_owner_comes_first(sign_in, owner):
    desk = sign_in(owner)
    page = main_of(desk.get(URL))
    assert "You have no passkey of your own yet, and yours comes first." in page
    assert "manage.py passkey_link" in page
    assert 'name="day"' not in page
    assert_refused(desk, "2026-12-01", "You have no passkey of your own yet, and yours")


def test_while_somebody_has_none_the_day_is_tomorrow_at_the_earliest(desk, delegate):
    sentence = "Choose November 21, 2026 or a later day"
    assert_refused(desk, YESTERDAY, sentence)
    assert_refused(desk, TODAY, sentence)
    assert choose(desk, TOMORROW).status_code == 302


def test_once_everybody_active_has_one_the_day_may_be_today(desk, delegate):
    SoftPasskey().keep_for(delegate)
    UserFactory.create(is_active=False)
    assert_refused(desk, YESTERDAY, "Choose November 20, 2026 or a later day")
    assert choose(desk, TODAY).status_code == 302
    assert desk.get(URL).status_code == 302  # this session was begun without a passkey


def test_a_guest_needs_one_as_well(desk):
    UserFactory.create(is_guest=True)
    assert_refused(desk, TODAY, "Choose November 21, 2026 or a later day")


@pytest.mark.parametrize(
    ("day", "assertion", "sentence"),
    [
        ("2026-12-01", "", "Nothing was done yet: this needs your passkey as well."),
        ("", "", "Nothing was done yet: this needs your passkey as well."),
        ("soon", None, "Enter a valid date."),
        ("2026-02-30", None, "Enter a valid date."),
    ],
)
def test_one_slip_changes_nothing(desk, day, assertion, sentence):
    assert_refused(desk, day, sentence, assertion=assertion)


def test_nobody_but_the_owner_chooses(sign_in, superuser, company, delegate):
    SoftPasskey().keep_for(superuser)
    give_password(superuser)
    for person, status in ((superuser, 404), (delegate, 403)):
        desk = sign_in(person)
        assert desk.get(URL).status_code == status
        assert choose(desk, "2026-12-01").status_code == status
    assert (chosen(), acts_written()) == (None, [])


def test_the_page_names_who_has_none_and_leads_to_their_link(desk, owner, delegate, colleague):
    SoftPasskey().keep_for(colleague)
    page = main_of(desk.get(URL))
    assert f"{delegate.name}, {delegate.email}" in page
    assert reverse("admin:passkey-link", args=[delegate.pk]) in page
    assert colleague.email not in page
    SoftPasskey().keep_for(delegate)
    assert "Everybody who is active has one." in main_of(desk.get(URL))


# Links


def link_of(person: User) -> str:
    return reverse("admin:passkey-link", args=[person.pk])


def make_link(desk, person: User):
    """Ask for the link, confirmed with the passkey of whose desk it is."""
    assertion = confirm_page(desk, link_of(person), desk.soft)
    return desk.post(link_of(person), {"assertion": assertion})


def test_a_link_is_shown_once_and_kept_nowhere(desk, owner, delegate, settings, mailoutbox):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "MAIL_FROM": "invoices@halden.example"}
    asked = main_of(desk.get(link_of(delegate)))
    assert LINK not in asked
    assert "has a passkey already" not in asked
    assert acts_written() == []

    answer = make_link(desk, delegate)

    token = main_of(answer).partition(LINK)[2].partition('"')[0]
    assert read_link_token(token) == delegate
    assert answer["Cache-Control"] == "no-store"
    assert token not in str(take_snapshot())
    assert token not in main_of(desk.get(link_of(delegate)))
    assert acts_written() == [("passkey:link_made", str(delegate.pk), "")]


def test_the_person_is_told_by_mail_and_never_sent_the_link(
    desk, delegate, settings, mailoutbox, django_capture_on_commit_callbacks
):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "MAIL_FROM": "invoices@halden.example"}
    with django_capture_on_commit_callbacks(execute=True):
        answer = make_link(desk, delegate)
    [mail] = mailoutbox
    assert mail.to == [delegate.email]
    assert mail.subject == "A link to add a passkey to your account was made"
    token = main_of(answer).partition(LINK)[2].partition('"')[0]
    assert token not in str(mail.message())


def test_the_page_says_that_a_link_replaces_what_somebody_has(desk, delegate):
    SoftPasskey().keep_for(delegate)
    assert "has a passkey already" in main_of(desk.get(link_of(delegate)))


def test_nobody_makes_a_link_for_themselves(desk, owner):
    assert link_of(owner) not in main_of(
        desk.get(reverse("admin:invoices_user_change", args=[owner.pk]))
    )
    assert [desk.get(link_of(owner)).status_code, desk.post(link_of(owner)).status_code] == [
        403
    ] * 2
    assert acts_written() == []


def test_an_inactive_person_gets_no_link(desk, delegate):
    User.objects.filter(pk=delegate.pk).update(is_active=False)
    assert desk.get(link_of(delegate)).status_code == 200
    answer = make_link(desk, delegate)
    assert answer.status_code == 409
    assert "is deactivated and cannot sign in" in main_of(answer)
    assert acts_written() == []


def test_an_administrator_helps_those_who_have_no_more_rights(sign_in, owner, superuser, colleague):
    desk = sign_in(make_administrator("change_user", "view_user"))
    for person in (owner, superuser):
        assert desk.post(link_of(person)).status_code == 403
    assert acts_written() == []
    plain = UserFactory.create()
    assert LINK in main_of(desk.post(link_of(plain)))


def test_a_link_ends_when_its_maker_may_not_make_it_any_more(sign_in, company):
    ada, plain = make_administrator("change_user", "view_user"), UserFactory.create()
    page = main_of(sign_in(ada).post(link_of(plain)))
    token = page.partition(LINK)[2].partition('"')[0]
    assert read_link_token(token) == plain
    User.objects.filter(pk=ada.pk).update(is_staff=False)
    with pytest.raises(LinkInvalidError):
        read_link_token(token)


def test_the_operator_makes_a_link_for_anybody_also_when_nobody_gets_in(owner):
    Company.objects.update(passkeys_required_from=TODAY)
    output = StringIO()
    call_command("passkey_link", owner.email, stdout=output)
    first, link = output.getvalue().splitlines()
    assert first == f"For {owner.email}, once, within 24 hours:"
    assert read_link_token(link.removeprefix(LINK)) == owner
    assert acts_written() == [("passkey:link_made", str(owner.pk), "")]


def test_the_operator_makes_no_link_for_inactive_people(company):
    out = UserFactory.create(is_active=False)
    with pytest.raises(CommandError) as refused:
        call_command("passkey_link", out.email)
    assert str(refused.value) == "This person is not active and cannot sign in."
    assert acts_written() == []
