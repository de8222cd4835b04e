import pytest

from invoicing.access import Permission
from invoicing.models import Document
from tests.factories import UserFactory, make_draft, make_staff

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("permission", Permission)
def test_every_permission_exists_and_can_be_given(permission) -> None:
    assert UserFactory.create(permissions=[permission]).has_perm(permission)
    assert not UserFactory.create().has_perm(permission)


def test_an_inactive_user_sees_nothing_through_permissions() -> None:
    make_draft()
    assert not Document.objects.visible_to(make_staff(is_active=False)).exists()


@pytest.mark.requirement("access.delegate")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [({}, True), ({"is_guest": True}, False), ({"is_active": False}, False)],
)
def test_a_delegate_is_active_and_no_guest(flags, expected) -> None:
    assert UserFactory.create(**flags).is_listed is expected
