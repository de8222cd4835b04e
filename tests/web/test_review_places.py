"""From one request to the next: the place among those that wait, and what a decision leads to."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from agent_access.approvals import inbox
from agent_access.connections import revoke_connection
from agent_access.models.connections import RevokedReason
from invoicing.access import Permission
from invoicing.models import Document
from invoicing.services.drafts import ConnectionRef
from tests.approvals import PREPARED_AT, Prepared, prepare
from tests.factories import CustomerFactory, line_input, make_draft, withdraw
from tests.web.reviews import decision_of, path_of, read, send

SECOND = timedelta(seconds=1)


def ask(prepared: Prepared, seconds: int, **draft: Any) -> Prepared:
    """Ask for the issue of another draft, some seconds later, by the same connection."""
    made = make_draft(user=prepared.user, **{"customer": prepared.document.customer} | draft)
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    now = PREPARED_AT + seconds * SECOND
    return prepare(made, user=prepared.user, connection=maker, now=now)


def place_of(desk: Any, prepared: Prepared) -> str:
    page = read(desk.get(path_of(prepared)), since='<nav class="places"')
    return page.split("Issue this invoice?")[0].removeprefix("Approvals").strip()


def test_a_request_alone_has_no_place(desk, prepared):
    assert place_of(desk, prepared) == ""


def test_the_place_among_those_that_wait_is_that_of_the_inbox(desk, prepared):
    second, third = ask(prepared, 1), ask(prepared, 2)
    assert [place_of(desk, each) for each in (prepared, second, third)] == [
        "1 of 3 Next request",
        "2 of 3 Previous request Next request",
        "3 of 3 Previous request",
    ]


def test_what_others_wait_for_and_what_one_may_not_see_is_not_counted(
    desk, prepared, delegate, colleague
):
    own = CustomerFactory.create(account_managers=[delegate])
    mine = [ask(prepared, each, customer=own) for each in (1, 2)]
    prepare(make_draft(user=colleague, customer=own), user=colleague)
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    assert place_of(desk, mine[0]) == "1 of 2 Next request"


def test_what_cannot_be_decided_any_more_is_not_counted(desk, prepared, connect, delegate):
    stale, last = ask(prepared, 1), ask(prepared, 2)
    Document.objects.filter(pk=stale.document.pk).update(lock_version=2)
    ended, _ = connect(delegate)
    draft = make_draft(user=delegate, customer=prepared.document.customer)
    prepare(draft, user=delegate, connection=ConnectionRef(ended.id, ended.name))
    revoke_connection(ended.id, reason=RevokedReason.OWNER_REVOKED)
    assert place_of(desk, prepared) == "1 of 2 Next request"
    assert place_of(desk, last) == "2 of 2 Previous request"


def test_in_a_long_list_nobody_counts_to_its_end(desk, prepared, monkeypatch):
    monkeypatch.setattr(inbox, "PAGE_LENGTH", 2)
    asked = [prepared, *(ask(prepared, each) for each in range(1, 5))]
    assert place_of(desk, asked[0]) == "1 of more than 3 Next request"
    assert place_of(desk, asked[3]) == "Previous request Next request"


def test_a_decision_opens_the_next_request_which_tells_of_it(desk, prepared):
    following = ask(prepared, 1)
    answer = send(desk, prepared, "approve")
    assert answer["Location"] == f"{path_of(following)}?decided={prepared.approval.pk}"
    page = read(desk.get(answer["Location"]))
    told = "You approved: Acme Ltd, €119.00 . The agent can do it until 09:10:00 UTC."
    assert f"{told} Look at it again Issue this invoice?" in page
    assert decision_of(following) == ""


def test_a_rejection_is_told_as_well_and_the_last_one_has_its_own_page(desk, prepared):
    following = ask(prepared, 1)
    answer = send(desk, prepared, "reject", reason="No.")
    assert "You rejected: Acme Ltd, €119.00 ." in read(desk.get(answer["Location"]))
    assert send(desk, following, "reject")["Location"] == path_of(following)


def test_the_form_sent_again_opens_the_next_one_too_and_decides_nothing_there(desk, prepared):
    following = ask(prepared, 1)
    first, again = (send(desk, prepared, "approve") for _ in range(2))
    assert again["Location"] == first["Location"]
    assert decision_of(following) == ""


def test_of_what_one_may_not_see_any_more_only_the_decision_is_told(desk, prepared, delegate):
    own = CustomerFactory.create(account_managers=[delegate])
    following = ask(prepared, 1, customer=own)
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    answer = send(desk, prepared, "reject")
    assert answer["Location"].startswith(path_of(following))
    page = read(desk.get(answer["Location"]))
    assert "You rejected: Issue a draft invoice ." in page
    assert "Acme Ltd" not in page.split("Issue this invoice?")[0]


@pytest.mark.parametrize("told", ["other", "undecided", "here", "nonsense", "unknown"])
def test_a_link_tells_only_of_what_this_person_decided(desk, prepared, colleague, told):
    here, undecided = ask(prepared, 1), ask(prepared, 2)
    other = prepare(prepared.document, user=colleague)
    other.decide()
    pk = {
        "other": other.approval.pk,
        "undecided": undecided.approval.pk,
        "here": here.approval.pk,
        "nonsense": "<b>",
        "unknown": "01890000-0000-7000-8000-000000000001",
    }[told]
    answer = desk.get(f"{path_of(here)}?decided={pk}")
    assert answer.status_code == 200
    assert 'class="notice good decided"' not in answer.content.decode()


def test_the_page_costs_the_same_however_much_waits_or_was_asked(desk, prepared, tax_rate):
    def count() -> int:
        with CaptureQueriesContext(database) as queries:
            assert desk.get(path_of(prepared)).status_code == 200
        return len(queries)

    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    ask(prepared, 1, lines=(line_input(tax_rate_id=tax_rate.id),))
    prepare(prepared.document, user=prepared.user, connection=maker, now=PREPARED_AT)
    desk.get(path_of(prepared))
    few = count()
    assert few <= 65
    for each in range(2, 8):
        lines = (line_input(tax_rate_id=tax_rate.id),) * each
        ask(prepared, each, customer=CustomerFactory.create(), lines=lines)
        prepare(prepared.document, user=prepared.user, connection=maker, now=PREPARED_AT)
    assert count() == few
