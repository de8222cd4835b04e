"""`manage.py setup`: the first person, and the link that leads them on."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from invoicing.models import User
from tests.administration import acts_written
from tests.browsers import Browser
from tests.factories import PASSWORD, UserFactory
from tests.interface.refusals import nothing_changes

pytestmark = pytest.mark.django_db


def set_up(email: str = "Olivia@halden.example", name: str = "Olivia Owner") -> str:
    printed = StringIO()
    call_command("setup", email, name=name, stdout=printed)
    return printed.getvalue()


def test_it_adds_the_first_person_and_prints_a_link_that_works_once():
    printed = set_up()
    person = User.objects.get()
    assert (person.email, person.name) == ("olivia@halden.example", "Olivia Owner")
    assert (person.is_staff, person.is_superuser, person.has_usable_password()) == (
        True,
        True,
        False,
    )
    assert acts_written() == [
        ("person:created", str(person.pk), "is_staff=yes, is_superuser=yes"),
        ("person:code_made", str(person.pk), ""),
    ]
    [code] = re.findall(r"https://invoices\.example/set-password#(\S+)", printed)
    form = {"code": code, "password": PASSWORD, "again": PASSWORD}
    browser = Browser()
    assert browser.post("/set-password", form)["Location"] == "/account/preferences?next=%2F"
    assert "Next: Company" in browser.get("/").content.decode()
    assert Browser().post("/set-password", form).status_code == 422


def test_where_somebody_is_already_it_makes_no_second_first_person(db):
    UserFactory.create()
    with nothing_changes(), pytest.raises(CommandError, match="There are people already"):
        set_up()


@pytest.mark.parametrize(
    ("email", "name"), [("nonsense", "Olivia"), ("", "Olivia"), ("o@halden.example", "")]
)
def test_what_is_no_person_is_refused_in_a_sentence(email, name):
    with nothing_changes(), pytest.raises(CommandError):
        set_up(email, name)
