import pytest

from invoicing.models import User

pytestmark = pytest.mark.django_db


def test_an_address_is_kept_in_lower_case_and_found_in_any() -> None:
    user = User.objects.create_user(" Dana@Halden.Example ", "a-long-password", name="Dana")
    assert user.email == "dana@halden.example"
    assert User.objects.get_by_natural_key("DANA@halden.example") == user
    assert user.check_password("a-long-password")


def test_without_a_password_nobody_signs_in() -> None:
    user = User.objects.create_user("ivan@halden.example", name="Ivan")
    assert not user.has_usable_password()


def test_a_person_is_neither_administrator_nor_guest_unless_said() -> None:
    user = User.objects.create_user("dana@halden.example", name="Dana")
    flags = (user.is_active, user.is_guest, user.is_staff, user.is_superuser)
    assert flags == (True, False, False, False)
    assert user.session_revision == 1


def test_a_superuser_may_do_everything() -> None:
    user = User.objects.create_superuser("root@halden.example", "a-long-password", name="Root")
    assert (user.is_staff, user.has_perm("invoices.finalize")) == (True, True)
