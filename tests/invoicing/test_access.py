from uuid import uuid4

import pytest

from invoicing.access import Permission
from invoicing.errors import RecordNotFoundError
from invoicing.models import Customer, Document
from tests.factories import CustomerFactory, UserFactory, make_draft, make_staff

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("permission", Permission)
def test_every_permission_exists_and_can_be_given(permission) -> None:
    assert UserFactory.create(permissions=[permission]).has_perm(permission)
    assert not UserFactory.create().has_perm(permission)


@pytest.mark.requirement("access.record_scope")
def test_an_account_manager_sees_their_customers_once_and_no_others() -> None:
    manager, colleague = UserFactory.create(), UserFactory.create()
    shared = CustomerFactory.create(account_managers=[manager, colleague])
    inactive = CustomerFactory.create(account_managers=[manager], is_active=False)
    CustomerFactory.create(account_managers=[colleague])
    assert list(Customer.objects.visible_to(manager).order_by("id")) == [shared, inactive]


def test_whoever_may_view_all_customers_sees_all_customers() -> None:
    customers = CustomerFactory.create_batch(3)
    assert list(Customer.objects.visible_to(make_staff()).order_by("id")) == customers


@pytest.mark.requirement("access.record_scope")
def test_documents_follow_their_customers() -> None:
    manager = UserFactory.create()
    own = make_draft(customer=CustomerFactory.create(account_managers=[manager]))
    other = make_draft()
    assert list(Document.objects.visible_to(manager)) == [own]
    assert list(Document.objects.visible_to(make_staff()).order_by("id")) == [own, other]
    assert list(Document.objects.visible_to(UserFactory.create())) == []


def test_an_inactive_user_sees_nothing_through_permissions() -> None:
    make_draft()
    assert not Document.objects.visible_to(make_staff(is_active=False)).exists()


def test_a_missing_and_a_hidden_record_look_the_same() -> None:
    stranger, document = UserFactory.create(), make_draft()
    for model, pk in [
        (Customer, document.customer_id),
        (Customer, uuid4()),
        (Document, document.pk),
        (Document, uuid4()),
    ]:
        with pytest.raises(RecordNotFoundError) as caught:
            model.objects.visible_to(stranger).find(pk)  # type: ignore[attr-defined]  # both have it
        assert str(caught.value) == ""


def test_a_visible_record_is_returned() -> None:
    staff, document = make_staff(), make_draft()
    assert Document.objects.visible_to(staff).find(document.pk) == document
    assert Customer.objects.visible_to(staff).find(document.customer_id) == document.customer


@pytest.mark.requirement("access.delegate")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [({}, True), ({"is_guest": True}, False), ({"is_active": False}, False)],
)
def test_a_delegate_is_active_and_no_guest(flags, expected) -> None:
    assert UserFactory.create(**flags).is_listed is expected
