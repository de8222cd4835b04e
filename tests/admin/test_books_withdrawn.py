"""What is withdrawn after a page has checked it, and before its act: the answer is 403 or 404."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F
from django.http import HttpRequest
from django.urls import reverse
from django.utils.module_loading import import_string

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

        monkeypatch.setattr(f"invoicing.{module}.actor_of", begin)

    return happens


def take_staff_away(person: User) -> None:
    User.objects.filter(pk=person.pk).update(is_staff=False)


def end_sessions_of(person: User) -> None:
    User.objects.filter(pk=person.pk).update(session_revision=F("session_revision") + 1)


@pytest.mark.parametrize("lose", [take_staff_away, end_sessions_of])
@pytest.mark.parametrize("page", PERSON_PAGES)
def test_who_may_no_longer_change_people_is_refused(desk, ada, meanwhile, page, lose):
    person, before = UserFactory.create(), []

    def lose_it() -> None:
        lose(ada)
        before.append(snapshot_of_books())

    meanwhile("administration.passkeys" if page == "passkey-link" else "admin.people", lose_it)
    assert desk.post(reverse(f"admin:{page}", args=[person.pk])).status_code == 403
    # A refusal that concerns passkeys is audited.
    told = [("passkey:refused", str(person.pk), "signed_out")] if page == "passkey-link" else []
    assert ([snapshot_of_books()], acts_written()) == (before, told)


@pytest.mark.parametrize(
    ("lose", "status"),
    [
        (lambda ada, _: ada.user_permissions.clear(), 403),
        (lambda ada, _: end_sessions_of(ada), 403),
        (lambda _, customer: customer.account_managers.clear(), 404),
    ],
    ids=["permissions", "sessions", "customer"],
)
def test_who_may_no_longer_change_a_customer_does_not(desk, ada, customer, meanwhile, lose, status):
    customer.account_managers.add(ada)
    meanwhile("admin.records", lambda: lose(ada, customer))
    assert save(desk, customer, name="Zephyr AG").status_code == status
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


@pytest.mark.parametrize(
    "moment",
    ["invoicing.admin.records.actor_of", "invoicing.administration.records.rename_words"],
    ids=["before the act", "while the words were waited for"],
)
def test_who_may_no_longer_see_all_customers_does_not_find_one(
    desk, ada, customer, monkeypatch, moment
):
    grant(ada, Permission.VIEW_ALL_CUSTOMERS)
    act = import_string(moment)

    def withdraw_first(*args: Any) -> Any:
        withdraw(ada, Permission.VIEW_ALL_CUSTOMERS)
        return act(*args)

    monkeypatch.setattr(moment, withdraw_first)
    assert save(desk, customer, name="Zephyr AG").status_code == 404
    assert (Customer.objects.get().name, acts_written()) == (customer.name, [])


def test_an_owner_who_was_signed_out_hands_nothing_over(sign_in, owner, meanwhile):
    give_password(owner)
    desk, successor = sign_in(owner), UserFactory.create()
    meanwhile("admin.ownership", lambda: end_sessions_of(owner))
    form = {"successor": str(successor.pk), "email": successor.email, "own_password": PASSWORD}
    assert desk.post(reverse("admin:transfer-ownership"), form).status_code == 403
    assert (Company.objects.get().owner, acts_written()) == (owner, [])
