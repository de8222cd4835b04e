"""The pages of passkeys, without a script: what they show, and what they let nobody do."""

import logging
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisConnectionError

from agent_access.models import AuditEvent
from agent_access.passkeys import link_views
from agent_access.passkeys.keeping import make_link
from agent_access.passkeys.models import Challenge, Passkey
from invoicing.models import User
from tests.administration import acting
from tests.browsers import Browser
from tests.factories import PASSWORD, UserFactory
from tests.interface.refusals import nothing_changes
from tests.passkeys import SoftPasskey, challenge_in, encode
from tests.signing import demand
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


PAGE = "/account/passkeys"
LINK = "/passkeys/link"
NOT_CONFIRMED = "Nothing was changed: it was not confirmed with one of your passkeys"
NOT_VALID = "This link is not valid."


@pytest.fixture
def soft() -> SoftPasskey:
    return SoftPasskey()


@pytest.fixture
def kept(soft, person):
    return soft.keep_for(person)


@pytest.fixture
def desk(sign_in, person, kept):
    return sign_in(person)


@pytest.fixture
def link(owner, person) -> str:
    return make_link(acting(owner), person, maker=owner)


def ask(browser: Any, purpose: str, **fields: str) -> dict[str, Any]:
    """Return what the script would give the browser."""
    answer = browser.post(f"{PAGE}/options", {"purpose": purpose, **fields})
    assert answer.status_code == 200
    [options] = answer.json().values()
    return dict(options)


def fill(browser: Any, soft: SoftPasskey, name: str = "Phone") -> dict[str, str]:
    """Return the form of another passkey, as the script sends it."""
    return {
        "name": name,
        "assertion": soft.sign(challenge_in(ask(browser, "add"))),
        "registration": SoftPasskey().register(challenge_in(ask(browser, "register"))),
    }


def names_of(person: User) -> list[str]:
    return [each.name for each in Passkey.objects.kept_by(person)]


def test_a_browser_is_asked_for_a_passkey_of_this_site_with_user_verification(desk, soft, person):
    options = ask(desk, "register")
    challenge = Challenge.objects.get()
    assert encode(bytes.fromhex(challenge.digest)) == options.pop("challenge")
    kinds = [{"type": "public-key", "alg": number} for number in (-8, -7, -257)]
    assert options == {
        "rp": {"name": "Agent invoicing", "id": "invoices.example"},
        "user": {
            "id": encode(person.pk.bytes),
            "name": person.email,
            "displayName": str(person),
        },
        "pubKeyCredParams": kinds,
        "timeout": 300_000,
        "excludeCredentials": [{"id": encode(soft.credential_id), "type": "public-key"}],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
    }


def test_a_browser_is_asked_to_sign_with_one_of_the_persons_passkeys(desk, soft, kept):
    options = ask(desk, "remove", about=str(kept.pk))
    assert encode(bytes.fromhex(Challenge.objects.get().digest)) == options.pop("challenge")
    assert options == {
        "timeout": 300_000,
        "rpId": "invoices.example",
        "allowCredentials": [{"id": encode(soft.credential_id), "type": "public-key"}],
        "userVerification": "required",
    }


@pytest.mark.parametrize(
    "fields",
    [{}, {"purpose": "approve"}, {"purpose": "sign-in"}, {"purpose": "recover"}]
    + [{"purpose": "remove", "about": pk} for pk in ("", "1", "\0", str(UserFactory._meta))],
    ids=lambda fields: " ".join(fields.values())[:20] or "nothing",
)
def test_nobody_is_given_options_for_anything_else(desk, fields):
    with nothing_changes():
        assert desk.post(f"{PAGE}/options", fields).status_code == 404


def test_nobody_is_given_options_to_remove_another_persons_passkey(desk, owner):
    theirs = SoftPasskey().keep_for(owner)
    with nothing_changes():
        fields = {"purpose": "remove", "about": str(theirs.pk)}
        assert desk.post(f"{PAGE}/options", fields).status_code == 404


def test_options_for_a_link_are_about_its_person(desk, owner):
    ask(desk, "link", about=str(owner.pk))
    assert f'"about":"{owner.pk}"' in Challenge.objects.get().content
    for about in ("", "1", "\0", str(Passkey.objects.get().pk)):
        with nothing_changes():
            fields = {"purpose": "link", "about": about}
            assert desk.post(f"{PAGE}/options", fields).status_code == 404


def test_the_page_shows_each_passkey_and_advises_a_second_one(desk, kept, person):
    page = text_of(desk.get("/account"))
    assert "Soft passkey" in page
    assert "Not used yet." in page
    assert "On a device that an agent may be able to use." in page
    assert "You have one passkey only." in page
    SoftPasskey().keep_for(person, name="<b>Phone</b>", is_apart=True)
    answer = main_of(desk.get("/account"))
    assert "&lt;b&gt;Phone&lt;/b&gt;" in answer
    assert "<b>Phone" not in answer
    assert "You have one passkey only." not in answer
    assert "On a device that no agent can use, as you said." in answer


def test_who_has_none_is_told_who_gives_a_link(sign_in, person, owner):
    page = main_of(sign_in(person).get("/account"))
    assert "The owner can give you a one-time link for your first one." in page
    assert "data-steps" not in page
    page = main_of(sign_in(owner).get("/account"))
    assert "Whoever operates the service can give you a one-time link" in page


def test_a_passkey_is_added_renamed_and_removed(desk, soft, kept, person):
    answer = desk.post(f"{PAGE}/add", fill(desk, soft))
    assert (answer.status_code, answer["Location"]) == (302, "/account?passkey=added#passkeys")
    assert "The passkey is added." in main_of(desk.get(answer["Location"]))
    answer = desk.post(f"{PAGE}/{kept.pk}/rename", {"name": "Old"})
    assert answer["Location"] == "/account?passkey=renamed#passkeys"
    assert names_of(person) == ["Old", "Phone"]
    challenge = challenge_in(ask(desk, "remove", about=str(kept.pk)))
    answer = desk.post(f"{PAGE}/{kept.pk}/remove", {"assertion": soft.sign(challenge)})
    assert answer["Location"] == "/account?passkey=removed#passkeys"
    assert names_of(person) == ["Phone"]
    assert "The passkey is removed." in main_of(desk.get(answer["Location"]))


def test_a_removal_signs_out_every_other_browser(desk, sign_in, soft, kept, person):
    elsewhere = sign_in(person)
    challenge = challenge_in(ask(desk, "remove", about=str(kept.pk)))
    desk.post(f"{PAGE}/{kept.pk}/remove", {"assertion": soft.sign(challenge)})
    assert desk.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 302


def test_a_form_without_a_passkey_changes_nothing_and_says_so(desk, soft, kept, person):
    """What a program can send that has the cookie, and the password too."""
    for fields in ({}, {"assertion": ""}, {"assertion": "{}"}, {"password": PASSWORD}):
        answer = desk.post(f"{PAGE}/{kept.pk}/remove", fields)
        assert answer.status_code == 422
        assert NOT_CONFIRMED in main_of(answer)
    form = fill(desk, soft)
    for assertion in ("", "{}", form["registration"], SoftPasskey().sign(b"1" * 32)):
        answer = desk.post(f"{PAGE}/add", {**form, "assertion": assertion})
        assert answer.status_code == 422
        assert NOT_CONFIRMED in main_of(answer)
    assert names_of(person) == ["Soft passkey"]


def test_what_one_browser_asked_for_is_of_no_use_in_another(desk, sign_in, soft, person):
    form = fill(desk, soft)
    answer = sign_in(person).post(f"{PAGE}/add", form)
    assert answer.status_code == 422
    assert names_of(person) == ["Soft passkey"]
    assert desk.post(f"{PAGE}/add", form).status_code == 302


@pytest.mark.parametrize("name", ["", "a" * 101, "in\u200bvisible"])
def test_a_name_that_is_none_is_told_and_uses_nothing(desk, soft, kept, person, name):
    form = fill(desk, soft)
    with nothing_changes():
        assert desk.post(f"{PAGE}/add", {**form, "name": name}).status_code == 422
        answer = desk.post(f"{PAGE}/{kept.pk}/rename", {"name": name})
    assert answer.status_code == 422
    assert "A passkey needs a name of 1 to 100 characters" in main_of(answer)
    assert desk.post(f"{PAGE}/add", form).status_code == 302


def test_an_agents_credential_opens_no_page_of_passkeys(agent, browser, kept):
    with nothing_changes():
        for path in ("options", "add", f"{kept.pk}/rename", f"{kept.pk}/remove"):
            headers = {"Authorization": f"Bearer {agent.credential}"}
            answer = browser.post(f"{PAGE}/{path}", headers=headers)
            assert answer.status_code == 302
            assert answer["Location"].startswith("/sign-in")


def test_a_form_of_another_site_changes_nothing(person, kept, soft):
    strict = Browser(enforce_csrf_checks=True)
    strict.force_login(person)
    with nothing_changes():
        for path in (f"{PAGE}/options", f"{PAGE}/add", f"{PAGE}/{kept.pk}/remove", LINK):
            headers = {"Origin": "https://evil.example"}
            answer = strict.post(path, {"purpose": "add"}, headers=headers)
            assert answer.status_code == 403


def test_at_an_ip_address_the_page_says_that_it_cannot_have_passkeys(settings, person, sign_in):
    SoftPasskey().keep_for(person)
    settings.AGENT_ACCESS |= {"BASE_URL": "https://192.0.2.1"}
    told = "This address of the service cannot have passkeys"
    page = main_of(sign_in(person).get("/account", headers={"host": "192.0.2.1"}))
    assert told in page
    assert "data-steps" not in page
    assert told in main_of(Browser().get(LINK, headers={"host": "192.0.2.1"}))


# The page behind a link.


def ask_by_link(browser: Any, link: str, password: str = PASSWORD) -> Any:
    browser.get(LINK)
    return browser.post(f"{LINK}/options", {"link": link, "password": password})


def fill_by_link(browser: Any, link: str, name: str = "Phone") -> dict[str, str]:
    options = ask_by_link(browser, link).json()["create"]
    registration = SoftPasskey().register(challenge_in(options))
    return {"link": link, "name": name, "registration": registration}


def test_a_person_who_has_not_signed_in_gets_a_passkey_by_a_link(
    browser, sign_in, owner, person, link
):
    link = make_link(acting(owner), User.objects.get(pk=person.pk), maker=owner)
    elsewhere = sign_in(person)
    answer = browser.post(LINK, fill_by_link(browser, f" {link} "))
    assert answer.status_code == 200
    assert "Your passkey is added" in main_of(answer)
    assert names_of(person) == ["Phone"]
    assert "__Host-session" not in browser.cookies
    assert elsewhere.get("/account").status_code == 302


def test_who_has_signed_in_stays_so_in_this_browser(sign_in, person, link):
    browser = sign_in(person)
    browser.post(LINK, fill_by_link(browser, link))
    assert names_of(person) == ["Phone"]
    assert browser.get("/account").status_code == 200


def test_a_link_without_the_password_makes_nothing(browser, person, link):
    for password in ("", "wrong-password"):
        answer = ask_by_link(browser, link, password)
        assert answer.status_code == 422
        told = "This is not your password, or your account cannot be used."
        assert answer.json() == {"problem": told}
    assert not Challenge.objects.exists()
    registration = SoftPasskey().register(b"1" * 32)
    answer = browser.post(LINK, {"link": link, "name": "Phone", "registration": registration})
    assert answer.status_code == 422
    assert names_of(person) == []


def test_what_was_asked_for_by_a_link_is_of_no_use_in_another_browser(browser, person, link):
    form = fill_by_link(browser, link)
    other = Browser()
    other.get(LINK)
    other.cookies["__Host-csrf"] = "b" * 32
    assert other.post(LINK, form).status_code == 422
    assert names_of(person) == []


def test_a_used_link_and_a_made_up_one_read_alike(browser, person, link):
    form = fill_by_link(browser, link)
    late = fill_by_link(browser, link)
    browser.post(LINK, form)
    for each in (link, "nonsense", "", "a.b.c", "\0"):
        answer = ask_by_link(browser, each)
        assert answer.status_code == 422
        assert answer.json()["problem"].startswith(NOT_VALID)
    for each in (late, {**late, "link": "nonsense"}):
        answer = browser.post(LINK, each)
        assert answer.status_code == 422
        assert NOT_VALID in main_of(answer)
    assert names_of(person) == ["Phone"]


def test_guesses_of_the_password_meet_the_limits_of_signing_in(browser, person, link):
    for _ in range(10):
        assert ask_by_link(browser, link, "wrong-password").status_code == 422
    for password in ("wrong-password", PASSWORD):
        answer = ask_by_link(browser, link, password)
        assert answer.status_code == 429
        assert answer.json()["problem"].startswith("Too many attempts. Please wait")
    form = {"username": person.email, "password": PASSWORD}
    assert browser.post("/sign-in", form).status_code == 429


def test_without_a_cache_no_password_is_tried(browser, link, monkeypatch, caplog):
    caplog.set_level(logging.CRITICAL)

    def fail(*_args: object, **_options: object) -> None:
        raise RedisConnectionError

    monkeypatch.setattr("invoicing.web.accounts.limits.count", fail)
    answer = ask_by_link(browser, link)
    assert answer.status_code == 429
    assert answer.json()["problem"].startswith("Nobody can sign in at the moment.")


def test_another_project_counts_by_itself(rf, person, link):
    request = rf.post("/", secure=True)
    tries = partial(link_views.try_password, request, person)
    for _ in range(10):
        assert not tries("wrong-password")
    with pytest.raises(link_views.NotTriedError):
        tries(PASSWORD)


# Mail.

SUBJECTS = {
    "added": "A passkey was added to your account",
    "removed": "A passkey was removed from your account",
    "link_made": "A link to add a passkey to your account was made",
    "recovered": "A new passkey replaced all those of your account",
}


def told(person: User) -> str:
    """Return the subject of the one mail, which went to the person and names no passkey."""
    [sent] = mail.outbox
    mail.outbox.clear()
    assert sent.to == [person.email]
    assert sent.body == (
        f"{sent.subject} at https://invoices.example.\n\nIf you did not do or ask for that, change"
        " your password at once, and tell whoever administers the service.\n"
    )
    return str(sent.subject)


@pytest.mark.django_db(transaction=True)
def test_each_change_is_told_by_mail(settings, desk, soft, kept, person, owner):
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}
    desk.post(f"{PAGE}/add", fill(desk, soft))
    assert told(person) == SUBJECTS["added"]
    desk.post(f"{PAGE}/add", {**fill(desk, soft), "assertion": ""})
    desk.post(f"{PAGE}/{kept.pk}/rename", {"name": "Old"})
    assert mail.outbox == []
    challenge = challenge_in(ask(desk, "remove", about=str(kept.pk)))
    desk.post(f"{PAGE}/{kept.pk}/remove", {"assertion": soft.sign(challenge)})
    assert told(person) == SUBJECTS["removed"]
    link = make_link(acting(owner), person, maker=owner)
    assert told(person) == SUBJECTS["link_made"]
    desk.post(LINK, fill_by_link(desk, link))
    assert told(person) == SUBJECTS["recovered"]


class RejectedByApiError(Exception):
    """An error as the mail backends of HTTP APIs have: neither of SMTP nor of the network."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "failure",
    [
        ("django.core.mail.EmailMessage.send", OSError),
        ("django.core.mail.EmailMessage.send", RejectedByApiError),
        ("agent_access.passkeys.mails.get_connection", ImproperlyConfigured),
    ],
)
def test_a_mail_server_that_fails_undoes_nothing(  # noqa: PLR0917  fixtures
    settings, desk, soft, person, monkeypatch, caplog, failure
):
    name, error = failure
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}

    monkeypatch.setattr(name, Mock(side_effect=error))
    assert desk.post(f"{PAGE}/add", fill(desk, soft)).status_code == 302
    assert names_of(person) == ["Soft passkey", "Phone"]
    assert "A mail about a passkey could not be sent." in caplog.text


def fill_apart(browser: Any, soft: SoftPasskey) -> dict[str, str]:
    return {**fill(browser, soft), "is_apart": "on"}


def begin_with(browser: Any, passkey: Passkey) -> None:
    """Let the session be one that this passkey began on its own device."""
    session = browser.session
    session["passkey"] = str(passkey.pk)
    session.save()


def test_who_never_had_one_says_which_passkey_no_agent_can_use(desk, soft, person):
    assert desk.post(f"{PAGE}/add", fill_apart(desk, soft)).status_code == 302
    assert Passkey.objects.get(name="Phone").is_apart


@pytest.mark.parametrize("why", ["they have one", "they had one", "one is demanded"])
def test_a_device_that_an_agent_may_use_adds_none_that_counts_as_apart(desk, soft, person, why):
    if why == "one is demanded":
        demand(always=True, apart=True)
    else:
        SoftPasskey().keep_for(person, is_apart=True)
    if why == "they had one":
        Passkey.objects.filter(is_apart=True).update(removed_at=timezone.now())
    before = Passkey.objects.count()
    page = desk.post(f"{PAGE}/add", fill_apart(desk, soft))
    assert page.status_code == 422
    assert "Only a passkey of a device that no agent can use adds" in text_of(page)
    assert Passkey.objects.count() == before
    assert AuditEvent.objects.get(action="passkey:refused").detail == "not_apart"
    # One that does not count as apart is added as ever.
    assert desk.post(f"{PAGE}/add", fill(desk, soft)).status_code == 302


@pytest.mark.parametrize(("began", "status"), [(True, 302), (False, 422)])
def test_a_device_kept_apart_adds_another_such_one_in_its_own_session(desk, person, began, status):
    phone = SoftPasskey()
    kept = phone.keep_for(person, is_apart=True)
    if began:
        begin_with(desk, kept)
    assert desk.post(f"{PAGE}/add", fill_apart(desk, phone)).status_code == status
    assert Passkey.objects.filter(name="Phone", is_apart=True).exists() is began
