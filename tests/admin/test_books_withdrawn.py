"""What is withdrawn after a page has checked it, and before its act: the answer is 403 or 404."""

from collections.abc import Callable

import pytest
from django.db.models import F
from django.http import HttpRequest
from django.urls import reverse

from agent_access.audit import Actor
from invoicing.access import Permission
from invoicing.administration.acts import actor_of
from invoicing.models import Company, Customer, User
from tests.admin.books import PERSON_PAGES
from tests.admin.forms import save, snapshot_of_books
from tests.administration import acts_written, make_administrator
from tests.factories import PASSWORD, UserFactory, give_password, grant, withdraw

pytestmark = pytest.mark.django_db

Meanwhile = Callable[[str, Callable[[], object]], None]


@pytest.fixture
def ada(company) -> User:
    return make_administrator("change_user", "change_customer", "view_customer", name="Ada Admin")


@pytest.fixture
def desk(sign_in, ada):
    return sign_in(ada)


@pytest.fixture
def meanwhile(monkeypatch) -> Meanwhile:
    """Let something happen when an admin module has checked all, and begins its act."""

    def happens(module: str, event: Callable[[], object]) -> None:
        def begin(request: HttpRequest) -> Actor:
            event()
            return actor_of(request)

        monkeypatch.setattr(f"invoicing.admin.{module}.actor_of", begin)

    return happens


@pytest.mark.parametrize("page", PERSON_PAGES)
def test_who_may_no_longer_change_people_is_refused(desk, ada, meanwhile, page):
    person, before = UserFactory.create(), []

    def withdraw_rights() -> None:
        User.objects.filter(pk=ada.pk).update(is_staff=False)
        before.append(snapshot_of_books())

    meanwhile("people", withdraw_rights)
    answer = desk.post(reverse(f"admin:{page}", args=[person.pk]))
    assert answer.status_code == 403
    assert ([snapshot_of_books()], acts_written()) == (before, [])


def test_who_may_no_longer_change_customers_is_refused(desk, ada, customer, meanwhile):
    customer.account_managers.add(ada)
    meanwhile("records", ada.user_permissions.clear)
    assert save(desk, customer, name="Zephyr AG").status_code == 403
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


def test_a_customer_whom_one_no_longer_sees_is_not_found(desk, ada, customer, meanwhile):
    customer.account_managers.add(ada)
    meanwhile("records", customer.account_managers.clear)
    assert save(desk, customer, name="Zephyr AG").status_code == 404
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


def test_who_may_no_longer_see_all_customers_does_not_find_one(desk, ada, customer, meanwhile):
    grant(ada, Permission.VIEW_ALL_CUSTOMERS)
    meanwhile("records", lambda: withdraw(ada, Permission.VIEW_ALL_CUSTOMERS))
    assert save(desk, customer, name="Zephyr AG").status_code == 404
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


def test_nor_does_who_waited_for_the_customers_words(desk, ada, customer, monkeypatch):
    grant(ada, Permission.VIEW_ALL_CUSTOMERS)
    monkeypatch.setattr(
        "invoicing.administration.records.rename_words",
        lambda *_: withdraw(ada, Permission.VIEW_ALL_CUSTOMERS),
    )
    assert save(desk, customer, name="Zephyr AG").status_code == 404
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


def end_sessions_of(person: User) -> None:
    User.objects.filter(pk=person.pk).update(session_revision=F("session_revision") + 1)


@pytest.mark.parametrize("page", PERSON_PAGES)
def test_who_was_signed_out_changes_nobody(desk, ada, meanwhile, page):
    person, before = UserFactory.create(), []

    def end_sessions() -> None:
        end_sessions_of(ada)
        before.append(snapshot_of_books())

    meanwhile("people", end_sessions)
    answer = desk.post(reverse(f"admin:{page}", args=[person.pk]))
    assert answer.status_code == 403
    assert ([snapshot_of_books()], acts_written()) == (before, [])


def test_who_was_signed_out_changes_no_customer(desk, ada, customer, meanwhile):
    customer.account_managers.add(ada)
    meanwhile("records", lambda: end_sessions_of(ada))
    assert save(desk, customer, name="Zephyr AG").status_code == 403
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


def test_an_owner_who_was_signed_out_hands_nothing_over(sign_in, owner, meanwhile):
    give_password(owner)
    desk, successor = sign_in(owner), UserFactory.create()
    meanwhile("ownership", lambda: end_sessions_of(owner))
    form = {"successor": str(successor.pk), "email": successor.email, "password": PASSWORD}
    assert desk.post(reverse("admin:transfer-ownership"), form).status_code == 403
    assert (Company.objects.get().owner, acts_written()) == (owner, [])
