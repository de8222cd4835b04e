"""What is withdrawn after a page has checked it, and before its act: the answer is 403 or 404."""

from collections.abc import Callable

import pytest
from django.http import HttpRequest
from django.urls import reverse

from agent_access.audit import Actor
from invoicing.administration.acts import actor_of
from invoicing.models import Customer, User
from tests.admin.books import PERSON_PAGES
from tests.admin.forms import save, snapshot_of_books
from tests.administration import acts_written, make_administrator
from tests.factories import UserFactory

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
    person = UserFactory.create()
    meanwhile("people", lambda: User.objects.filter(pk=ada.pk).update(is_staff=False))
    before = snapshot_of_books()
    answer = desk.post(reverse(f"admin:{page}", args=[person.pk]))
    assert answer.status_code == 403
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    assert (snapshot_of_books(), acts_written()) == (before, [])


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
