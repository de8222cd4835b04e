"""People change while calls and other administrators are at work."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from agent_access.models import ChainHead, Connection
from agent_access.switches import turn_access
from agent_access.verification import find_breaks
from invoicing.administration.people import change_person, digest_person
from invoicing.administration.records import change_record
from invoicing.administration.sign_ins import sign_out_everywhere
from invoicing.models import Customer, Role, TaxRate, User
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


def test_of_two_superusers_who_demote_each_other_one_remains(owner, superuser):
    other = UserFactory.create(is_staff=True, is_superuser=True)

    def demote(by: User, person: User) -> str:
        return outcome_of(lambda: change(by, person, is_superuser=False, is_staff=False))

    outcomes = run_together([partial(demote, superuser, other), partial(demote, other, superuser)])
    assert sorted(outcomes) == ["PermissionMissingError", "done"]
    assert User.objects.filter(is_superuser=True).count() == 1


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


def waits_for(connection: Connection, act: Callable[[], object]) -> bool:
    """Tell whether the act waits for a call: for what it holds from its checks to its commit."""
    encounter = Encounter()

    def call() -> bool:
        with transaction.atomic():
            ChainHead.objects.select_for_update().get(chain=str(connection.id))
            return encounter.wait_here()

    acts: list[Callable[[], Any]] = [call, partial(encounter.come, act)]
    is_done_before, _ = run_together(acts)
    return not is_done_before


@pytest.mark.postgresql  # on SQLite an act waits for every transaction that writes
@pytest.mark.requirement("authentication.current_permissions")
def test_permissions_are_taken_after_the_calls_of_those_who_have_them(
    owner, colleague, delegate, connect
):
    own, others = connect(delegate)[0], connect(colleague)[0]
    take = partial(change, owner, delegate, user_permissions=[])
    give = partial(change, owner, delegate, user_permissions=[*delegate.user_permissions.all()])
    assert waits_for(own, take)
    assert not read(delegate).get_all_permissions()
    assert not waits_for(others, give)


@pytest.mark.postgresql  # as above
@pytest.mark.requirement("authentication.current_permissions")
def test_permissions_of_a_role_are_taken_after_the_calls_of_those_who_have_it(
    owner, colleague, delegate, connect
):
    own, others = connect(delegate)[0], connect(colleague)[0]
    role, every = Role.objects.create(name="Writer"), [*delegate.user_permissions.all()]
    role.permissions.set(every)
    delegate.groups.add(role)
    delegate.user_permissions.clear()

    def give(*permissions: object) -> None:
        change_as(owner, role, {"permissions": permissions}, seen=digest_record(role))

    assert waits_for(own, give)
    assert not read(delegate).get_all_permissions()
    assert not waits_for(others, partial(give, *every))
