"""What ends everything that a person signed in, and what does not."""

from collections.abc import Callable
from io import StringIO
from unittest.mock import patch

import pytest
from django.contrib.auth.hashers import check_password
from django.core.management import CommandError, call_command

from agent_access.models import AuditEvent
from agent_access.models.audit import ADMINISTRATION
from agent_access.verification import find_breaks
from invoicing.administration.people import change_person, digest_person
from invoicing.administration.sign_ins import (
    change_own_password,
    make_code,
    sign_out_everywhere,
    use_code,
)
from invoicing.models import User
from tests.administration import ADDRESS, acting, acts_written, read
from tests.browsers import sign_in_with
from tests.factories import PASSWORD, give_password
from tests.snapshots import take_snapshot

NEW = "another-long-password"


def change(owner: User, person: User, **changes: object) -> None:
    change_person(acting(owner), person.pk, changes, seen=digest_person(read(person)))


def flag(name: str, *, value: bool) -> Callable[[User, User], None]:
    def act(owner: User, person: User) -> None:
        change(owner, person, **{name: value})

    return act


def change_password(owner: User, person: User) -> None:
    change_own_password(acting(person), NEW, known=read(person))


def use_a_code(owner: User, person: User) -> None:
    use_code(make_code(acting(owner), person.pk), NEW, actor=acting(None))


def sign_out(owner: User, person: User) -> None:
    sign_out_everywhere(acting(read(person)), person.pk)


def sign_out_by_the_owner(owner: User, person: User) -> None:
    sign_out_everywhere(acting(owner), person.pk)


def change_password_by_command(owner: User, person: User) -> None:
    with patch("getpass.getpass", return_value=NEW):
        call_command("changepassword", person.email.upper(), stdout=StringIO())


ENDINGS: dict[str, tuple[Callable[[User, User], None], str, str]] = {
    "password": (change_password, "sessions_ended", "person:password_changed"),
    "code": (use_a_code, "sessions_ended", "person:code_used"),
    "command": (change_password_by_command, "sessions_ended", "person:password_changed"),
    "sign out": (sign_out, "sessions_ended", "person:signed_out"),
    "signed out": (sign_out_by_the_owner, "sessions_ended", "person:signed_out"),
    "deactivated": (flag("is_active", value=False), "user_deactivated", "person:changed"),
    "guest": (flag("is_guest", value=True), "user_became_guest", "person:changed"),
    "staff": (flag("is_staff", value=True), "sessions_ended", "person:changed"),
    "superuser": (flag("is_superuser", value=True), "sessions_ended", "person:changed"),
}


@pytest.mark.requirement("revocation.other_endings")
@pytest.mark.parametrize("ending", ENDINGS)
def test_what_raises_the_revision_ends_connections_at_once(
    connect, owner, delegate, colleague, ending
):
    act, reason, action = ENDINGS[ending]
    connection, agent = connect(delegate)
    other, other_agent = connect(colleague)

    act(owner, delegate)

    # Written down by the act, not by the next call.
    connection.refresh_from_db()
    assert connection.revoked_reason == reason
    assert read(delegate).session_revision == 2
    assert agent.call("tools.list").status == 401
    other.refresh_from_db()
    assert (other.revoked_at, other_agent.call("tools.list").status) == (None, 200)
    assert [each[:2] for each in acts_written()[-2:]] == [
        ("connection:revoked", str(connection.id)),
        (action, str(delegate.id)),
    ]
    assert list(find_breaks()) == []


@pytest.mark.parametrize("ending", ["staff", "deactivated", "signed out"])
def test_an_act_names_who_acted_and_from_where(connect, owner, delegate, ending):
    connect(delegate)
    ENDINGS[ending][0](owner, delegate)
    events = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("-sequence")[:2]
    assert [(event.actor_id, event.client_address, event.transport) for event in events] == [
        (owner.id, ADDRESS, "web")
    ] * 2


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "Dana Doe", "job_title": "Clerk", "email": "dana.doe@halden.example"},
        {"groups": [], "user_permissions": []},
    ],
    ids=["name", "permissions"],
)
def test_another_name_or_fewer_permissions_end_nothing(connect, owner, delegate, changes):
    connection, agent = connect(delegate)
    change(owner, delegate, **changes)
    connection.refresh_from_db()
    assert (connection.revoked_at, read(delegate).session_revision) == (None, 1)
    assert agent.call("tools.list").status == 200


def test_what_was_ended_stays_so_when_the_flag_comes_back(connect, owner, delegate):
    connection, agent = connect(delegate)
    change(owner, delegate, is_active=False)
    change(owner, delegate, is_active=True)
    assert agent.call("tools.list").status == 401
    connection.refresh_from_db()
    assert connection.revoked_reason == "user_deactivated"
    assert acts_written()[-1] == ("person:changed", str(delegate.id), "is_active=yes")


def test_a_guest_who_is_none_any_more_begins_anew(owner, delegate):
    change(owner, delegate, is_guest=True)
    change(owner, delegate, is_guest=False)
    assert read(delegate).session_revision == 3


@pytest.mark.parametrize("flags", [{"is_guest": True}, {"is_active": False}], ids=str)
def test_another_name_of_a_guest_or_of_somebody_inactive_ends_nothing(owner, delegate, flags):
    User.objects.filter(pk=delegate.pk).update(**flags)
    before = read(delegate).session_revision
    change(owner, delegate, name="Dana Doe")
    assert (read(delegate).name, read(delegate).session_revision) == ("Dana Doe", before)


def test_the_command_says_what_it_did(connect, delegate):
    connect(delegate)
    output = StringIO()
    with patch("getpass.getpass", return_value=NEW):
        call_command("changepassword", delegate.email, stdout=output)
    assert output.getvalue() == f"{delegate.email} has a new password. Connections ended: 1.\n"
    assert check_password(NEW, read(delegate).password)


RAW = "The password is not text in UTF-8; nothing was changed."


@pytest.mark.parametrize(
    ("typed", "refusal"),
    [
        ([NEW, "something-else"], "The two passwords differ; nothing was changed."),
        ([EOFError], "No password was typed; nothing was changed."),
        ([f"{NEW}\udcff"] * 2, RAW),
        ([UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")], RAW),
        (["short"] * 2, "This password is too short. It must contain at least 12 characters."),
    ],
    ids=["differ", "end of input", "raw from a pipe", "raw from a terminal", "short"],
)
def test_the_command_refuses_what_is_no_password(connection, delegate, typed, refusal):
    before = take_snapshot()
    with patch("getpass.getpass", side_effect=typed), pytest.raises(CommandError) as refused:
        call_command("changepassword", delegate.email, stdout=StringIO())
    assert str(refused.value) == refusal
    assert take_snapshot() == before


def save_password(person: User) -> None:
    held = read(person)
    held.set_password(NEW)
    held.save()


def update_password(person: User) -> None:
    User.objects.filter(pk=person.pk).update(password="!typed-in-psql")


def save_flag(person: User) -> None:
    held = read(person)
    held.is_superuser = not held.is_superuser
    held.save(update_fields=["is_superuser"])


def save_what_was_read_before(person: User) -> None:
    held = read(person)
    save_password(person)
    held.name = "Dana Doe"
    held.save()


def save_twice(person: User) -> None:
    """As in a shell: the record in hand does not know the revision that its save led to."""
    held = read(person)
    held.set_password(NEW)
    held.save()
    held.save()


OTHERS = [save_password, update_password, save_flag, save_what_was_read_before, save_twice]


@pytest.mark.requirement("revocation.other_endings")
@pytest.mark.parametrize("act", OTHERS)
def test_what_a_shell_or_another_program_writes_ends_sessions_and_connections(
    connect, sign_in, delegate, colleague, act
):
    connection, agent = connect(delegate)
    _, other_agent = connect(colleague)
    pages = sign_in(delegate)

    act(delegate)

    assert read(delegate).session_revision > 1
    assert agent.call("tools.list").status == 401
    connection.refresh_from_db()
    assert connection.revoked_reason == "sessions_ended"
    assert pages.get("/account")["Location"].startswith("/sign-in")
    assert other_agent.call("tools.list").status == 200


@pytest.mark.parametrize("change", [{"name": "Dana Doe"}, {"last_login": None}, {"password": "!"}])
def test_a_save_of_the_same_password_ends_nothing(connect, delegate, change):
    _, agent = connect(delegate)
    held = read(delegate)
    for name, value in change.items():
        setattr(held, name, value)
    held.save()
    assert read(delegate).session_revision == 1
    assert agent.call("tools.list").status == 200


HASHER = "django.contrib.auth.hashers.{}PasswordHasher"


@pytest.fixture
def outdated(settings, delegate):
    """Somebody whose password was hashed in a way that is outdated by now."""
    give_password(delegate)
    settings.PASSWORD_HASHERS = [HASHER.format("PBKDF2"), HASHER.format("MD5")]
    return delegate


def test_a_hash_made_anew_at_sign_in_ends_no_connection(connect, browser, outdated):
    connection, agent = connect(outdated)
    assert sign_in_with(browser, outdated.email).status_code == 302
    held = read(outdated)
    assert (held.password.partition("$")[0], held.session_revision) == ("pbkdf2_sha256", 1)
    assert browser.get("/account").status_code == 200
    assert agent.call("tools.list").status == 200
    # The next change is a change: nothing of it is excused by the upgrade.
    save_password(outdated)
    assert agent.call("tools.list").status == 401
    connection.refresh_from_db()
    assert connection.revoked_reason == "sessions_ended"


def test_a_password_set_on_what_was_read_before_an_upgrade_is_no_upgrade(connect, outdated):
    _, agent = connect(outdated)
    held = read(outdated)
    assert read(outdated).check_password(PASSWORD)
    held.set_password(NEW)
    held.save()
    assert (read(outdated).session_revision, read(outdated).password_upgrades) == (2, 2)
    assert agent.call("tools.list").status == 401


def test_a_hash_is_not_made_anew_over_a_password_that_was_just_changed(outdated):
    held = read(outdated)
    save_password(outdated)
    assert held.check_password(PASSWORD)
    assert read(outdated).check_password(NEW)


def test_another_secret_key_ends_no_connection(connect, delegate, settings):
    _, agent = connect(delegate)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-fifty-characters-at-the-least"
    assert agent.call("tools.list").status == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert agent.call("tools.list").status == 200
