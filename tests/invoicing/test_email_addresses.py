"""An e-mail address is one person's, however it is spelled, at every door."""

import json
from importlib import import_module
from io import StringIO
from unittest.mock import patch

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from invoicing.administration.people import change_person, create_person, digest_person
from invoicing.email_addresses import fold_address
from invoicing.models import Company, User
from tests.administration import acting, read
from tests.browsers import Browser, sign_in_with
from tests.factories import UserFactory, give_password

KEPT = "dana@xn--exmple-cua.de"
SPELLINGS = [
    KEPT,
    "dana@ex\xe4mple.de",
    "dana@exa\u0308mple.de",
    "Dana@EX\xc4MPLE.De",
    "DANA@XN--EXMPLE-CUA.DE",
    " dana@ex\xe4mple\uff0ede\u3000",
    "dana@ex\xe4mple\u3002de",
    "\uff44\uff41\uff4e\uff41\uff20\uff45\uff58\xe4mple.de",
    "dana@ex\xe4m\xadple.de",
]


@pytest.fixture
def dana(db) -> User:
    person = UserFactory.create(email=KEPT)
    give_password(person)
    return person


@pytest.mark.parametrize("spelling", SPELLINGS, ids=ascii)
def test_all_spellings_are_one_address(spelling):
    assert fold_address(spelling) == KEPT


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        (" Dana ", "dana"),
        ("dana@stra\xdfe.de", "dana@xn--strae-oqa.de"),
        ("dana@strasse.de", "dana@strasse.de"),
        ("dana@under_score.example", "dana@under_score.example"),
        ("dana@localhost", "dana@localhost"),
        ("dana@[::1]", "dana@[::1]"),
        ("dana@xn--abc.de", "dana@xn--abc.de"),
        ("a@b@ex\xe4mple.de", "a@b@xn--exmple-cua.de"),
        ("dana@i\u2764.ws", "dana@i\u2764.ws"),
        ("dana@\ud800", "dana@\ud800"),
    ],
    ids=ascii,
)
def test_what_differs_stays_apart(text, folded):
    assert fold_address(text) == folded


def test_megabytes_that_are_no_domain_are_not_looked_at():
    text = "dana@" + "\xe4" * 1_000_000
    with patch("invoicing.email_addresses.idna.encode") as encode:
        assert fold_address(text) == text
    encode.assert_not_called()


@given(st.text(), st.text())
def test_what_is_folded_stays_as_it_is(mailbox, domain):
    folded = fold_address(f"{mailbox}@{domain}")
    assert fold_address(folded) == folded


@pytest.mark.parametrize("spelling", SPELLINGS, ids=ascii)
def test_each_spelling_signs_in(dana, spelling):
    assert sign_in_with(Browser(), spelling).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_the_guesses_of_all_spellings_are_of_one_account(dana):
    for number in range(10):
        spelling = SPELLINGS[number % len(SPELLINGS)]
        assert sign_in_with(Browser(), spelling, "wrong").status_code == 422
    assert sign_in_with(Browser(), KEPT).status_code == 429


@pytest.mark.parametrize("spelling", SPELLINGS, ids=ascii)
def test_no_spelling_makes_a_second_person(dana, spelling):
    before = User.objects.count()
    for make in (User.objects.create_user, User.objects.create_superuser):
        with pytest.raises(IntegrityError), transaction.atomic():
            make(spelling, name="Second")
    assert User.objects.count() == before


@pytest.mark.parametrize("spelling", SPELLINGS[1:5], ids=ascii)
def test_nor_do_administrators(dana, owner, spelling):
    with pytest.raises(ValidationError):
        create_person(acting(owner), {"email": spelling, "name": "Second"})
    other = UserFactory.create()
    with pytest.raises(ValidationError):
        change_person(acting(owner), other.pk, {"email": spelling}, seen=digest_person(read(other)))


def test_an_administrator_types_any_spelling(dana, owner):
    person = create_person(acting(owner), {"email": "Ute@EX\xc4MPLE.de", "name": "Ute"})
    assert read(person).email == "ute@xn--exmple-cua.de"


def test_an_address_that_no_domain_can_have_is_refused_in_words(owner):
    with pytest.raises(ValidationError) as refused:
        create_person(acting(owner), {"email": "ute@i\u2764.ws", "name": "Ute"})
    assert refused.value.messages == [
        'Write this e-mail address in ASCII, its domain as "xn--...".'
    ]


@pytest.mark.usefixtures("access_on")
@pytest.mark.parametrize("spelling", SPELLINGS[:3], ids=ascii)
def test_commands_find_the_person_by_each_spelling(dana, owner, spelling):
    output = StringIO()
    options = {"scopes": "people:read", "days": 1, "json": True}
    call_command("connect_agent", user=spelling, stdout=output, **options)
    assert json.loads(output.getvalue())["credential"].startswith("ivc_")
    call_command("one_time_link", spelling, stdout=StringIO())
    call_command("transfer_ownership", spelling, stdout=StringIO())
    assert Company.objects.get().owner_id == dana.pk


def migrate_addresses() -> None:
    import_module("invoicing.migrations.0015_folded_email_addresses").fold_addresses(apps, None)


@pytest.fixture
def unfolded(db):
    """Return a function that writes an address as a former release kept it."""

    def write(person: User, email: str) -> None:
        # The constraint comes after the addresses are folded.
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            User.objects.filter(pk=person.pk).update(email=email)
            cursor.execute("PRAGMA ignore_check_constraints = OFF")

    return write


@pytest.mark.sqlite  # where a constraint can be set aside
def test_the_migration_folds_what_was_kept_before(unfolded):
    first, second = UserFactory.create_batch(2)
    unfolded(first, "dana@ex\xe4mple.de")
    migrate_addresses()
    assert (read(first).email, read(second).email) == (KEPT, second.email)


@pytest.mark.sqlite  # as above
def test_the_migration_names_an_address_that_two_people_have(dana, unfolded):
    other = UserFactory.create()
    unfolded(other, "dana@ex\xe4mple.de")
    with pytest.raises(ValueError, match=f"Two people have the e-mail address {KEPT}"):
        migrate_addresses()
