"""The owner requires passkeys from a day on, and gives people links to add one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agent_access.models import AuditEvent
from agent_access.passkeys.links import LinkInvalidError, read_link_token
from agent_access.passkeys.models import Challenge
from agent_access.verification import find_breaks
from invoicing.models import Company, User
from tests.administration import acts_written, make_administrator
from tests.browsers import Browser, SignIn
from tests.factories import UserFactory
from tests.passkeys import SoftPasskey, challenge_in
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_clock"), pytest.mark.sqlite]

URL = "/admin/invoices/company/passkeys"
LINK = "https://invoices.example/passkeys/link#"
TODAY, TOMORROW, YESTERDAY = "2026-11-20", "2026-11-21", "2026-11-19"


@pytest.fixture
def _clock(time_machine) -> None:
    time_machine.move_to("2026-11-20T23:00:00+00:00", tick=False)


@pytest.fixture
def soft() -> SoftPasskey:
    """The owner's own."""
    return SoftPasskey(counter=5)


@pytest.fixture
def desk(sign_in: SignIn, owner: User, soft: SoftPasskey) -> Client:
    soft.keep_for(owner)
    return sign_in(owner)


def ask(desk: Client, day: str) -> bytes:
    """Return what the page's script is given to confirm this day."""
    return challenge_in(orjson.loads(desk.post(f"{URL}/options", {"day": day}).content)["get"])


def send(desk: Client, day: str, assertion: str) -> Any:
    return desk.post(URL, {"day": day, "assertion": assertion})


def choose(desk: Client, soft: SoftPasskey, day: str) -> Any:
    return send(desk, day, soft.sign(ask(desk, day)))


def chosen() -> str | None:
    day = Company.objects.get().passkeys_required_from
    return day.isoformat() if day else None


@contextmanager
def refused() -> Iterator[None]:
    """See that nothing changed, but for what is asked and locked meanwhile; the audit is apart."""
    aside = {"sessions.Session", "agent_access.AccessSettings", "agent_passkeys.Challenge"}
    before = take_snapshot()
    yield
    after = take_snapshot()
    assert {name for name in after if after[name] != before[name]} <= aside


def test_nothing_is_required_until_the_owner_says_so(desk):
    assert chosen() is None
    page = main_of(desk.get(URL))
    assert "You can require one of everybody, from a day on." in page
    assert "The earliest day is November 21, 2026." not in page  # nobody else is active
    assert "The earliest day is November 20, 2026." in page
    assert f'href="{URL}"' in main_of(desk.get("/admin/invoices/company/", follow=True))


def test_the_owner_requires_passkeys_from_a_day_on_and_takes_it_back(desk, soft, owner, delegate):
    assert choose(desk, soft, "2026-12-01").status_code == 302
    assert chosen() == "2026-12-01"
    page = main_of(desk.get(URL))
    assert "From December 1, 2026 on nobody signs in without a passkey." in page
    assert choose(desk, soft, "").status_code == 302
    assert chosen() is None
    company = str(Company.objects.get().pk)
    assert acts_written() == [
        ("passkeys:required", company, "from 2026-12-01"),
        ("passkeys:required", company, "of nobody"),
    ]
    told = AuditEvent.objects.filter(action="passkeys:required")
    assert {*told.values_list("actor_id", "client_address")} == {(owner.id, "127.0.0.1")}
    assert list(find_breaks()) == []


def test_the_same_day_again_is_no_act(desk, soft, delegate):
    choose(desk, soft, "2026-12-01")
    choose(desk, soft, "2026-12-01")
    assert len(acts_written()) == 1


def test_the_owner_comes_first(sign_in, owner):
    desk = sign_in(owner)
    page = main_of(desk.get(URL))
    assert "You have no passkey of your own yet, and yours comes first." in page
    assert "manage.py passkey_link" in page
    assert 'name="day"' not in page
    with refused():
        assert send(desk, "2026-12-01", "{}").status_code == 422
    assert acts_written() == []


def test_an_owner_who_has_none_any_more_cannot_even_take_it_back(sign_in, owner):
    Company.objects.update(passkeys_required_from="2026-12-01")
    desk = sign_in(owner)
    with refused():
        assert send(desk, "", "{}").status_code == 422
    assert chosen() == "2026-12-01"


def test_while_somebody_has_none_the_day_is_tomorrow_at_the_earliest(desk, soft, delegate):
    for day in (YESTERDAY, TODAY):
        with refused():
            answer = choose(desk, soft, day)
        assert answer.status_code == 422
        assert "Choose November 21, 2026 or a later day" in main_of(answer)
    assert acts_written() == []
    assert choose(desk, soft, TOMORROW).status_code == 302


def test_once_everybody_active_has_one_the_day_may_be_today(desk, soft, delegate):
    SoftPasskey().keep_for(delegate)
    UserFactory.create(is_active=False)
    assert "Choose November 20, 2026" in main_of(choose(desk, soft, YESTERDAY))
    assert choose(desk, soft, TODAY).status_code == 302
    assert desk.get(URL).status_code == 302  # this session was begun without a passkey


def test_a_guest_needs_one_as_well(desk, soft):
    UserFactory.create(is_guest=True)
    assert "Choose November 21, 2026" in main_of(choose(desk, soft, TODAY))


@pytest.mark.parametrize("day", ["soon", "2026-02-30", "9" * 500, "\0"])
def test_what_is_no_day_is_asked_again(desk, day):
    answer = desk.post(f"{URL}/options", {"day": day})
    assert answer.status_code == 422
    assert orjson.loads(answer.content) == {"problem": "Choose a day, or none."}
    with refused():
        assert send(desk, day, "{}").status_code == 422
    assert acts_written() == []


def of_another_session(desk: Client, soft: SoftPasskey, owner: User) -> str:
    other = Browser()
    other.force_login(owner)
    return soft.sign(ask(other, ""))


def of_another_person(desk: Client, soft: SoftPasskey, owner: User) -> str:
    other = SoftPasskey()
    other.keep_for(UserFactory.create())
    return other.sign(ask(desk, ""))


def of_another_purpose(desk: Client, soft: SoftPasskey, owner: User) -> str:
    challenge = ask(desk, "")
    Challenge.objects.update(purpose="sign-in")
    return soft.sign(challenge)


def used(desk: Client, soft: SoftPasskey, owner: User) -> str:
    assertion = soft.sign(ask(desk, ""))
    send(desk, "", assertion)
    Company.objects.update(passkeys_required_from="2026-12-01")
    return assertion


def too_late(desk: Client, soft: SoftPasskey, owner: User) -> str:
    assertion = soft.sign(ask(desk, ""))
    Challenge.objects.update(expires_at=timezone.now())
    return assertion


UNFIT: dict[str, Callable[[Client, SoftPasskey, User], str]] = {
    "nothing": lambda *_: "",
    "another day": lambda desk, soft, _: soft.sign(ask(desk, "2026-12-02")),
    "no verification": lambda desk, soft, _: soft.sign(ask(desk, ""), verifies=False),
    "another session": of_another_session,
    "another person": of_another_person,
    "another purpose": of_another_purpose,
    "used": used,
    "too late": too_late,
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_does_not_confirm_exactly_this_changes_nothing(desk, soft, owner, case):
    """Whoever holds the owner's session and password changes nothing without the passkey."""
    Company.objects.update(passkeys_required_from="2026-12-01")
    assertion = UNFIT[case](desk, soft, owner)
    before = acts_written()
    with refused():
        answer = send(desk, "", assertion)
    assert answer.status_code == 422
    assert "it was not confirmed with one of your passkeys" in main_of(answer)
    assert chosen() == "2026-12-01"
    assert acts_written() == [*before, ("passkeys:refused", str(owner.pk), "")]


def test_nobody_but_the_owner_chooses(sign_in, superuser, company, delegate):
    soft = SoftPasskey()
    soft.keep_for(superuser)
    for person, status in ((superuser, 404), (delegate, 403)):
        desk = sign_in(person)
        assert desk.get(URL).status_code == status
        assert desk.post(f"{URL}/options", {"day": ""}).status_code == status
        assert send(desk, "2026-12-01", "{}").status_code == status
    assert (chosen(), acts_written()) == (None, [])
    assert not Challenge.objects.exists()


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


def make_link(desk: Client, soft: SoftPasskey, person: User, **lies: Any) -> Any:
    """Create a link as the page does for who has a passkey."""
    return desk.post(link_of(person), {"assertion": sign_for(desk, soft, person, **lies)})


def sign_for(desk: Client, soft: SoftPasskey, person: User, **lies: Any) -> str:
    asked = desk.post("/account/passkeys/options", {"purpose": "link", "about": str(person.pk)})
    return soft.sign(challenge_in(orjson.loads(asked.content)["get"]), **lies)


def test_a_link_is_shown_once_and_kept_nowhere(desk, soft, delegate):
    asked = main_of(desk.get(link_of(delegate)))
    assert LINK not in asked
    assert "has a passkey already" not in asked
    assert acts_written() == []

    answer = make_link(desk, soft, delegate)

    token = main_of(answer).partition(LINK)[2].partition('"')[0]
    assert read_link_token(token) == delegate
    assert answer["Cache-Control"] == "no-store"
    assert token not in str(take_snapshot())
    assert token not in main_of(desk.get(link_of(delegate)))
    assert acts_written() == [("passkey:link_made", str(delegate.pk), "")]


def test_the_person_is_told_by_mail_and_never_sent_the_link(
    desk, soft, delegate, settings, mailoutbox, django_capture_on_commit_callbacks
):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "MAIL_FROM": "invoices@halden.example"}
    with django_capture_on_commit_callbacks(execute=True):
        answer = make_link(desk, soft, delegate)
    [mail] = mailoutbox
    assert mail.to == [delegate.email]
    assert mail.subject == "A link to add a passkey to your account was made"
    token = main_of(answer).partition(LINK)[2].partition('"')[0]
    assert token not in str(mail.message())


def test_who_has_a_passkey_confirms_a_link_with_it(desk, soft, delegate, colleague):
    """Whoever holds only their session could otherwise sign as everybody else."""
    other = UserFactory.create()
    answers = [
        desk.post(link_of(delegate)),
        make_link(desk, soft, delegate, verifies=False),
        make_link(desk, SoftPasskey(), delegate),
        desk.post(link_of(delegate), {"assertion": sign_for(desk, soft, other)}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert "No link was made: it was not confirmed" in main_of(answer)
        assert LINK not in main_of(answer)
    refused = ("passkey:refused", str(delegate.pk), "assertion")
    assert acts_written() == [refused] * 4


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


def test_an_inactive_person_gets_no_link(desk, soft, delegate):
    User.objects.filter(pk=delegate.pk).update(is_active=False)
    assert desk.get(link_of(delegate)).status_code == 200
    answer = make_link(desk, soft, delegate)
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
