"""People change while calls and other administrators are at work."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password

from agent_access import connections, execution, receipts
from agent_access.connections import ConnectionRequest, create_connection
from agent_access.models import AuditEvent, Connection, Receipt
from agent_access.models.audit import ADMINISTRATION
from agent_access.switches import turn_access
from agent_access.verification import find_breaks
from invoicing.administration.ownership import transfer_ownership_as_operator
from invoicing.administration.people import change_person, create_person, digest_person
from invoicing.administration.records import change_record
from invoicing.administration.sign_ins import make_code, sign_out_everywhere, use_code
from invoicing.models import Company, Customer, Document, TaxRate, User
from invoicing.search.table import Row
from invoicing.services import customers
from invoicing.services.record_changes import digest_record
from invoicing.services.search_words import replace_rows
from tests.administration import acting, read
from tests.agents import HttpAgent
from tests.factories import CustomerFactory, TaxRateFactory, UserFactory
from tests.threads import Encounter, run_together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("many_calls")]


def change(by: User, person: User, **changes: object) -> None:
    change_person(acting(by), person.pk, changes, seen=digest_person(read(person)))


def change_as(by: User, record: Any, changes: dict[str, Any], *, seen: str) -> None:
    change_record(
        acting(by),
        lambda _: type(record).objects.all(),
        record.pk,
        changes,
        seen=seen,
        is_allowed=lambda _: True,
    )


def outcome_of(act: Callable[[], Any]) -> str:
    try:
        act()
    except Exception as error:  # noqa: BLE001  a race may end in any refusal, and says in which
        return type(error).__name__
    return "done"


@pytest.mark.requirement("revocation.stops_calls", "authentication.current_permissions")
@pytest.mark.parametrize(
    ("flag", "reason"), [("is_active", "user_deactivated"), ("is_guest", "user_became_guest")]
)
def test_no_call_in_flight_commits_after_its_person_was_sent_away(  # noqa: PLR0917  fixtures
    connect, owner, delegate, draft_body, monkeypatch, flag, reason
):
    """The act either waits for the call, or the call fails: never does it commit afterwards."""
    connection, agent = connect(delegate)
    encounter = Encounter()
    claim = receipts.claim_receipt

    def claim_and_wait(*args: Any) -> Any:
        receipt = claim(*args)
        encounter.wait_here()
        return receipt

    def send_away() -> int:
        encounter.come(partial(change, owner, delegate, **{flag: not getattr(delegate, flag)}))
        return 0

    monkeypatch.setattr(execution, "claim_receipt", claim_and_wait)
    call = lambda: agent.call("drafts.create", draft_body, key="one").status  # noqa: E731  the other act
    status, _ = run_together([call, send_away])

    connection.refresh_from_db()
    assert connection.revoked_reason == reason
    done = AuditEvent.objects.filter(chain=str(connection.id), outcome="ok")
    assert Document.objects.count() == Receipt.objects.count() == done.count() == (status == 201)
    assert status in {201, 401}
    ended = AuditEvent.objects.get(chain=ADMINISTRATION, action="connection:revoked")
    assert not done.filter(occurred_at__gt=ended.occurred_at).exists()
    assert agent.call("tools.list").status == 401
    assert list(find_breaks()) == []


def test_sending_somebody_away_waits_for_a_connection_that_is_being_made(
    owner, delegate, access_on, monkeypatch
):
    """Otherwise one that acts for them could be made after all of theirs were ended."""
    encounter = Encounter()
    check = connections._check_request

    def check_and_wait(*args: Any) -> Any:
        found = check(*args)
        encounter.wait_here()
        return found

    def send_away() -> None:
        encounter.come(partial(change, owner, delegate, is_active=False))

    monkeypatch.setattr(connections, "_check_request", check_and_wait)
    request = ConnectionRequest(user=delegate, scopes=["people:read"], days=1, name="Agent")
    run_together([lambda: create_connection(request), send_away])
    assert Connection.objects.get().revoked_reason == "user_deactivated"


def test_of_two_administrators_who_change_one_person_the_second_is_told(owner, superuser):
    person = UserFactory.create()
    seen = digest_person(read(person))

    def act(by: User, **changes: object) -> str:
        return outcome_of(lambda: change_person(acting(by), person.pk, changes, seen=seen))

    outcomes = run_together(
        [partial(act, owner, is_guest=True), partial(act, superuser, is_staff=True)]
    )
    assert sorted(outcomes) == ["ConflictError", "done"]
    held = read(person)
    assert (held.is_guest != held.is_staff, held.session_revision) == (True, 2)


def test_of_two_superusers_who_demote_each_other_one_remains(owner, superuser):
    other = UserFactory.create(is_staff=True, is_superuser=True)

    def demote(by: User, person: User) -> str:
        return outcome_of(lambda: change(by, person, is_superuser=False, is_staff=False))

    outcomes = run_together([partial(demote, superuser, other), partial(demote, other, superuser)])
    assert sorted(outcomes) == ["PermissionMissingError", "done"]
    assert User.objects.filter(is_superuser=True).count() == 1


def test_two_people_never_get_one_address(owner, superuser):
    facts = {"name": "New", "email": "new@halden.example"}
    acts = [partial(create_person, acting(by), facts) for by in (owner, superuser)]
    outcomes = run_together([partial(outcome_of, act) for act in acts])
    assert sorted(outcomes) == ["ValidationError", "done"]
    assert User.objects.filter(email="new@halden.example").count() == 1


def test_a_code_used_twice_at_once_works_once(owner, monkeypatch):
    person = UserFactory.create()
    code = make_code(acting(owner), person.pk)
    passwords = ["a-long-password-number-one", "a-long-password-number-two"]

    def use(password: str) -> str:
        return outcome_of(lambda: use_code(code, password, actor=acting(None)))

    outcomes = run_together([partial(use, password) for password in passwords])
    assert sorted(outcomes) == ["CodeInvalidError", "done"]
    assert check_password(passwords[outcomes.index("done")], read(person).password)


def test_nobody_becomes_owner_who_is_sent_away_at_that_moment(owner, superuser):
    successor = UserFactory.create()
    hand = partial(transfer_ownership_as_operator, successor.pk)
    send_away = partial(change, superuser, successor, is_active=False)
    outcomes: list[str] = run_together([partial(outcome_of, act) for act in (hand, send_away)])
    assert sorted(outcomes) in (["OwnerUnfitError", "done"], ["PermissionMissingError", "done"])
    assert Company.objects.get().owner.is_active


def test_a_tax_rate_is_replaced_once(owner, superuser, tax_rate):
    seen = digest_record(tax_rate)

    def replace(by: User, percentage: int) -> str:
        changes = {"name": "VAT", "percentage_ten_thousandths": percentage, "is_active": True}
        return outcome_of(partial(change_as, by, tax_rate, changes, seen=seen))

    outcomes = run_together([partial(replace, owner, 70_000), partial(replace, superuser, 80_000)])
    assert sorted(outcomes) == ["ConflictError", "done"]
    assert TaxRate.objects.filter(is_active=True).count() == 1


def test_a_first_category_is_chosen_once(owner, superuser):
    zero = TaxRateFactory.create(percentage_ten_thousandths=0)
    seen = digest_record(zero)

    def choose(by: User, category: str) -> str:
        changes = {"category": category, "names": {"en": category}}
        return outcome_of(partial(change_as, by, zero, changes, seen=seen))

    outcomes = run_together([partial(choose, owner, "Z"), partial(choose, superuser, "O")])
    assert sorted(outcomes) == ["ConflictError", "done"]
    chosen = ["Z", "O"][outcomes.index("done")]
    kept = TaxRate.objects.values("pk", "category", "names").get()
    assert kept == {"pk": zero.pk, "category": chosen, "names": {"en": chosen}}


@pytest.mark.postgresql  # SQLite has one writer
def test_who_stops_agents_does_not_wait_while_the_words_of_a_customer_are_renamed(
    owner, access_on, monkeypatch
):
    """They may be those of many thousand drafts."""
    customer, encounter = CustomerFactory.create(name="Old"), Encounter()
    overtaken = []

    def replace_late(*rows: Collection[Row]) -> None:
        overtaken.append(encounter.wait_here())
        replace_rows(*rows)

    def rename() -> str:
        seen = digest_record(customer)
        return outcome_of(partial(change_as, owner, customer, {"name": "New"}, seen=seen))

    def stop() -> str:
        return encounter.come(lambda: outcome_of(partial(turn_access, on=False)))

    monkeypatch.setattr(customers, "replace_rows", replace_late)
    assert run_together([rename, stop]) == ["done", "done"]
    assert overtaken == [True]
    assert Customer.objects.get().name == "New"
    assert list(find_breaks()) == []


@pytest.mark.postgresql  # SQLite has one writer, and no circle
def test_acts_calls_and_new_addresses_never_wait_in_a_circle(
    connect, owner, superuser, delegate, draft_body
):
    """A changed address locks the person's row also against new rows that point to it."""
    _, agent = connect(delegate)

    def write(worker: int) -> set[str]:
        calls = (
            HttpAgent(agent.credential).call("drafts.create", draft_body, key=f"k{worker}-{number}")
            for number in range(8)
        )
        return {str(each.status) for each in calls}

    def rename(by: User) -> set[str]:
        return {
            outcome_of(partial(change, by, delegate, email=f"{by.pk}-{number}@halden.example"))
            for number in range(8)
        }

    def sign_out(by: User) -> set[str]:
        return {outcome_of(lambda: sign_out_everywhere(acting(by), by.pk)) for _ in range(8)}

    results = run_together(
        [
            partial(write, 1),
            partial(write, 2),
            partial(rename, owner),
            partial(rename, superuser),
            partial(sign_out, owner),
        ]
    )
    assert results[0] | results[1] == {"201"}
    assert results[2] | results[3] <= {"done", "ConflictError"}
    assert results[4] == {"done"}
    assert list(find_breaks()) == []
