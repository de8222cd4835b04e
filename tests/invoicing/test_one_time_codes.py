"""One-time codes: who gets in with one, and what ends it."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.hashers import check_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.utils import timezone

from agent_access.models import AuditEvent
from invoicing.access import Permission
from invoicing.administration.one_time_codes import find_by_code
from invoicing.administration.ownership import transfer_ownership_as_operator
from invoicing.administration.people import change_person, digest_person
from invoicing.administration.sign_ins import (
    make_code,
    make_code_as_operator,
    sign_out_everywhere,
    use_code,
)
from invoicing.errors import CodeInvalidError
from invoicing.models import User
from tests.administration import ORIGIN, acting, acts_written, make_administrator, read
from tests.factories import CustomerFactory, UserFactory, grant, withdraw
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

NEW = "another-long-password"


@pytest.fixture
def person(company) -> User:
    return UserFactory.create(name="Paul Plain")


@pytest.fixture
def code(owner, person) -> str:
    return make_code(acting(owner), person.pk)


def use(code: str, password: str = NEW) -> None:
    use_code(code, password, actor=acting(None))


def assert_refused(code: str) -> None:
    before, events = take_snapshot(), acts_written()
    for password in (NEW, "short"):  # what is wrong with a password is told to nobody else
        with pytest.raises(CodeInvalidError):
            use(code, password)
    assert (take_snapshot(), acts_written()) == (before, events)


def test_a_code_sets_the_password_once(code, person, owner):
    use(code)
    held = User.objects.get(pk=person.pk)
    assert check_password(NEW, held.password)
    assert acts_written() == [
        ("person:code_made", str(person.id), ""),
        ("person:code_used", str(person.id), ""),
    ]
    actors = AuditEvent.objects.order_by("sequence").values_list("actor_id", "client_address")
    assert list(actors) == [
        (owner.id, ORIGIN.client_address),
        (person.id, ORIGIN.client_address),
    ]
    assert_refused(code)


def test_a_code_lasts_a_day(code, time_machine):
    made = User.objects.get(pk=find_by_code(code).pk)
    time_machine.move_to(timezone.now() + timedelta(hours=23, minutes=59), tick=False)
    assert find_by_code(code) == made
    time_machine.shift(timedelta(minutes=2))
    assert_refused(code)


def deactivate(person, owner):
    User.objects.filter(pk=person.pk).update(is_active=False)


def deactivate_and_back(person, owner):
    for is_active in (False, True):
        seen = digest_person(read(person))
        change_person(acting(owner), person.pk, {"is_active": is_active}, seen=seen)


def change_password(person, owner):
    use(make_code(acting(owner), person.pk), "yet-another-password")


def sign_out(person, owner):
    sign_out_everywhere(acting(owner), person.pk)


def become_owner(person, owner):
    transfer_ownership_as_operator(person.pk)


def change_address(person, owner):
    User.objects.filter(pk=person.pk).update(email="other@halden.example")


@pytest.mark.parametrize(
    "end",
    [deactivate, deactivate_and_back, change_password, sign_out, become_owner, change_address],
)
def test_what_ends_a_code(person, owner, end):
    """One of the operator's too, whose maker can lose no right."""
    codes = [make_code(acting(owner), person.pk), make_code_as_operator(person.pk)]
    end(person, owner)
    for code in codes:
        assert_refused(code)


@pytest.fixture
def ada(company) -> User:
    return make_administrator("change_user", name="Ada Admin")


def more_rights(person, ada):
    grant(person, Permission.FINALIZE)


def more_customers(person, ada):
    CustomerFactory.create(account_managers=[person])


def less_of_an_administrator(person, ada):
    withdraw(ada, "invoices.change_user")


def maker_sent_away(person, ada):
    User.objects.filter(pk=ada.pk).update(is_active=False)


@pytest.mark.parametrize(
    "end", [more_rights, more_customers, less_of_an_administrator, maker_sent_away]
)
def test_a_code_is_worth_no_more_than_its_maker_at_this_moment(ada, person, end):
    code = make_code(acting(ada), person.pk)
    assert find_by_code(code) == person
    end(person, ada)
    assert_refused(code)


def test_rights_that_are_given_meanwhile_do_not_spoil_the_link_of_who_gives_them(code, person):
    grant(person, Permission.FINALIZE)
    use(code)
    assert check_password(NEW, read(person).password)


def test_a_code_names_its_maker_and_cannot_be_given_another(code, owner, ada, person):
    theirs = make_code(acting(ada), person.pk).split(".")
    ours = code.split(".")
    grant(person, Permission.FINALIZE)
    assert_refused(".".join([theirs[0], ours[1], theirs[2]]))
    assert_refused(".".join([theirs[0], "", theirs[2]]))


def test_a_code_is_for_one_person(code, owner):
    other = make_code(acting(owner), UserFactory.create().pk)
    theirs, ours = other.partition("."), code.partition(".")
    assert_refused(f"{theirs[0]}.{ours[2]}")


@pytest.mark.parametrize(
    "bend",
    [
        str.upper,
        lambda code: code[:-1],
        lambda code: code + "0",
        lambda code: code.partition(".")[0],
        lambda code: "." + code.partition(".")[2],
        lambda code: "x" * 22 + "." + code.partition(".")[2],
        lambda code: "A" * 22 + "." + code.partition(".")[2],
        lambda code: code.replace(".", ""),
        lambda _: "",
        lambda _: ".",
        lambda _: "\0.\0",
        lambda _: "é" * 30,
        lambda code: code.replace("-", "-\u0661"),
    ],
    ids=range(13),
)
def test_what_is_no_code_lets_nobody_in(code, bend):
    assert_refused(bend(code))


@pytest.mark.parametrize("password", ["short", "password1234", "paul plain xy", ""])
def test_an_easy_password_is_refused_and_the_code_still_good(code, person, password):
    before = take_snapshot()
    with pytest.raises(ValidationError):
        use(code, password)
    assert take_snapshot() == before
    use(code)
    assert check_password(NEW, read(person).password)


def test_the_operator_makes_a_link_for_anybody(owner):
    output = StringIO()
    call_command("one_time_link", owner.email, stdout=output)
    first, link = output.getvalue().splitlines()
    assert first == f"For {owner.email}, once, within 24 hours:"
    address, _, code = link.partition("#")
    assert address == "https://invoices.example/set-password"
    assert find_by_code(code) == owner
    assert acts_written() == [("person:code_made", str(owner.id), "")]


def test_the_operator_makes_no_link_for_inactive_people(company):
    out = UserFactory.create(is_active=False)
    with pytest.raises(CommandError) as refused:
        call_command("one_time_link", out.email)
    assert str(refused.value) == "This person is not active and cannot sign in."
    assert acts_written() == []
