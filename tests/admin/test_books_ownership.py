"""The owner hands the installation over, with open eyes; nobody else can."""

import pytest

from agent_access.models import AuditEvent, Connection
from agent_access.verification import find_breaks
from invoicing.models import Company, User
from tests.administration import acts_written
from tests.factories import PASSWORD, UserFactory, give_password
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

URL = "/admin/invoices/company/transfer"


@pytest.fixture
def owner(owner: User) -> User:
    give_password(owner)
    return owner


@pytest.fixture
def form(delegate) -> dict[str, str]:
    return {"successor": str(delegate.pk), "email": delegate.email, "own_password": PASSWORD}


def test_the_owner_hands_over_and_every_connection_ends(
    sign_in, owner, delegate, colleague, connect, form
):
    agents = [connect(each)[1] for each in (delegate, colleague)]
    desk = sign_in(owner)
    page = main_of(desk.get(URL))
    assert "there are 2." in page
    assert f'href="{URL}"' in main_of(desk.get("/admin/invoices/company/", follow=True))

    answer = desk.post(URL, form | {"email": delegate.email.upper()})

    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert Company.objects.get().owner == delegate
    assert {each.call("tools.list").status for each in agents} == {401}
    assert set(Connection.objects.values_list("revoked_reason", flat=True)) == {"owner_changed"}
    told = AuditEvent.objects.filter(action="ownership:transferred")
    [facts] = told.values_list("chain", "actor_id", "target", "transport", "client_address")
    assert facts == ("administration", owner.id, str(delegate.id), "web", "127.0.0.1")
    assert list(find_breaks()) == []
    # The former owner is nobody special any more.
    assert (desk.get(URL).status_code, desk.get("/admin/").status_code) == (403, 403)
    assert sign_in(delegate).get(URL).status_code == 200


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"email": "colin@halden.example"}, "This is not the address of the person chosen above."),
        ({"email": ""}, "This field is required."),
        ({"own_password": "wrong-password"}, "This is not your password."),
        ({"own_password": None}, "Nothing was done yet: this needs your password as well."),
        ({"successor": ""}, "This field is required."),
        ({"successor": "01a1fb8b-efc0-71c1-99d2-a7735c6388ff"}, "Select a valid choice."),
    ],
    ids=range(6),
)
def test_one_slip_hands_nothing_over(sign_in, owner, form, connection, fields, sentence):
    desk = sign_in(owner)
    before, events = take_snapshot(), acts_written()
    answer = desk.post(URL, form | fields)
    assert answer.status_code == 422
    assert sentence in main_of(answer)
    assert PASSWORD not in answer.content.decode()
    assert (take_snapshot(), acts_written()) == (before, events)


@pytest.mark.parametrize("flags", [{"is_active": False}, {"is_guest": True}], ids=["out", "guest"])
def test_only_an_active_person_of_the_staff_is_offered(sign_in, owner, flags):
    unfit = UserFactory.create(**flags)
    desk = sign_in(owner)
    assert unfit.email not in main_of(desk.get(URL))
    fields = {"successor": str(unfit.pk), "email": unfit.email, "own_password": PASSWORD}
    assert desk.post(URL, fields).status_code == 422
    assert Company.objects.get().owner == owner


def test_somebody_who_left_after_being_chosen_is_refused(
    sign_in, owner, delegate, form, monkeypatch
):
    def leave(self: object) -> str:
        User.objects.filter(pk=delegate.pk).update(is_active=False)
        return PASSWORD

    monkeypatch.setattr("invoicing.admin.ownership.confirm", leave)
    answer = sign_in(owner).post(URL, form)
    assert answer.status_code == 422
    assert "must be an active person" in main_of(answer)
    assert Company.objects.get().owner == owner


@pytest.mark.parametrize("name", ["superuser", "administrator", "delegate", "guest"])
def test_nobody_else_finds_the_page(request, sign_in, owner, form, name):
    desk = sign_in(request.getfixturevalue(name))
    for answer in (desk.get(URL), desk.post(URL, form)):
        assert answer.status_code in {403, 404}
    assert Company.objects.get().owner == owner


@pytest.mark.usefixtures("_clock_stands_still")
def test_guessing_the_owners_password_there_ends_soon(sign_in, owner, form):
    desk = sign_in(owner)
    wrong = form | {"own_password": "wrong-password"}
    assert {desk.post(URL, wrong).status_code for _ in range(10)} == {422}
    answer = desk.post(URL, form)
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert "Too many attempts" in main_of(answer)
    assert Company.objects.get().owner == owner
