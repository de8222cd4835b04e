"""Drafts as a model has them: created, updated, repeated, stale, out of sight."""

import json
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from typing_extensions import override

from agent_access.models import Receipt
from invoicing.access import Permission
from invoicing.models import Document, User
from tests.agents import Answer
from tests.factories import CustomerFactory, grant, withdraw
from tests.fuzzing.effort import PLAYED
from tests.fuzzing.machines import Machine, run

pytestmark = PLAYED

# Few, so that the same one is often sent again.
KEYS = st.sampled_from(["a", "b", "c", "d"])
TRANSPORTS = st.integers(0, 1)
AMOUNTS = st.integers(1, 3)
FLAWS = st.sampled_from(
    ["", "", "", "", "", "reordered", "unknown field", "early", "hidden customer"]
)
WHICH = st.integers(0, 3)
WITHDRAWN = (Permission.VIEW_ALL_CUSTOMERS, Permission.MANAGE)
STALENESS = st.sampled_from([0, 0, 0, -1, 1])


class Drafts(Machine):
    @override
    def begin(self) -> None:
        self.user: User = self.make_delegate()
        self.agents = self.lend(self.user)
        self.customer = CustomerFactory.create()
        self.inactive = CustomerFactory.create(is_active=False)
        self.drafts: dict[str, dict[str, Any]] = {}
        self.receipts: dict[str, tuple[str, str, bytes]] = {}
        self.may_write = self.sees_all = True
        self.create("a", 0, 1, "")

    def body(self, amount: int, flaw: str) -> dict[str, Any]:
        line = {"description": "Work", "quantity": str(amount), "unit_price": "150"}
        customer = self.inactive if flaw == "hidden customer" else self.customer
        body = {
            "customer_id": str(customer.id),
            "currency_code": "EUR",
            "issue_date": "2026-03-02",
            "due_date": "2026-03-01" if flaw == "early" else "2026-03-02",
            "line_items": [line],
        }
        if flaw == "unknown field":
            return body | {"grand_total": "1"}
        return dict(reversed(body.items())) if flaw == "reordered" else body

    def expect(self, answer: Answer, call: tuple[str, str, str], key: str, flaw: str) -> bool:
        """Hold an answer to what comes before the draft itself; return whether nothing did."""
        tool, target, _ = call
        if not self.may_write:
            assert answer.status == 403
        elif flaw in {"unknown field", "early"}:
            assert answer.status == 422
        elif key in self.receipts and self.receipts[key][:2] != (target, call[2]):
            assert answer.status == 409
        elif key in self.receipts:
            stored = 201 if tool == "drafts.create" else 200
            assert answer.status == (stored if self.sees_all else 404)
            if self.sees_all:
                assert answer.content == self.receipts[key][2]
                assert answer.headers["Idempotent-Replayed"] == "true"
        else:
            assert "Idempotent-Replayed" not in answer.headers
            return True
        return False

    def keep(self, answer: Answer, key: str, call: tuple[str, str, str], amount: int) -> None:
        told = answer.data
        assert told["grand_total"] == str(amount * 150)
        self.receipts[key] = (call[1], call[2], answer.content)
        self.drafts[told["id"]] = {"lock_version": told["lock_version"], "amount": amount}

    @rule(key=KEYS, transport=TRANSPORTS, amount=AMOUNTS, flaw=FLAWS)
    def create(self, key: str, transport: int, amount: int, flaw: str) -> None:
        body = self.body(amount, flaw)
        call = ("drafts.create", "new", json.dumps(body))
        answer = self.agents[transport].call("drafts.create", body, key=key)
        if not self.expect(answer, call, key, flaw):
            return
        if flaw == "hidden customer" or not self.sees_all:
            assert (answer.status, answer.error["fields"]) == (422, ["customer_id"])
            return
        assert answer.status == 201
        assert answer.data["lock_version"] == 1
        assert answer.data["id"] not in self.drafts
        self.keep(answer, key, call, amount)

    @precondition(lambda self: self.drafts)
    @rule(
        which=WHICH, key=KEYS, transport=TRANSPORTS, amount=AMOUNTS, flaw=FLAWS, staleness=STALENESS
    )
    def update(
        self, which: int, key: str, transport: int, amount: int, flaw: str, staleness: int
    ) -> None:
        id_ = list(self.drafts)[which % len(self.drafts)]
        version = max(1, self.drafts[id_]["lock_version"] + staleness)
        body = self.body(amount, flaw) | {"lock_version": version}
        call = ("drafts.update", id_, json.dumps(body))
        answer = self.agents[transport].call("drafts.update", body, id=id_, key=key)
        if not self.expect(answer, call, key, flaw):
            return
        if not self.sees_all:
            assert answer.status == 404
        elif flaw == "hidden customer":
            assert (answer.status, answer.error["fields"]) == (422, ["customer_id"])
        elif version != self.drafts[id_]["lock_version"]:
            assert (answer.status, answer.code) == (409, "conflict")
        else:
            assert answer.status == 200
            assert answer.data["lock_version"] == version + 1
            self.keep(answer, key, call, amount)

    @rule(which=WHICH, transport=TRANSPORTS, without=st.sampled_from([None, *WITHDRAWN]))
    def repeat(self, which: int, transport: int, without: Permission | None) -> None:
        """Send a call again as it was, by whichever transport, perhaps with less permission."""
        if without:
            self.turn(without)
        key = list(self.receipts)[which % len(self.receipts)]
        target, text, _ = self.receipts[key]
        tool = "drafts.create" if target == "new" else "drafts.update"
        answer = self.agents[transport].call(tool, json.loads(text), id=target, key=key)
        assert not self.expect(answer, (tool, target, text), key, "")
        if without:
            self.turn(without)

    @rule(permission=st.sampled_from(WITHDRAWN))
    def turn(self, permission: Permission) -> None:
        """Take a permission away, or give it back."""
        is_to_write = permission == Permission.MANAGE
        (withdraw if (self.may_write if is_to_write else self.sees_all) else grant)(
            self.user, permission
        )
        if is_to_write:
            self.may_write = not self.may_write
        else:
            self.sees_all = not self.sees_all

    @invariant()
    def the_service_tells_what_the_model_has(self) -> None:
        listed = self.agents[0].call("documents.list", {"limit": 50}).data
        told = {each["id"]: (each["lock_version"], each["grand_total"]) for each in listed}
        expected = {
            id_: (draft["lock_version"], str(draft["amount"] * 150))
            for id_, draft in self.drafts.items()
        }
        assert told == (expected if self.sees_all else {})
        assert Document.objects.count() == len(self.drafts)
        assert set(Receipt.objects.values_list("key", flat=True)) == set(self.receipts)


@pytest.mark.django_db
@pytest.mark.requirement("idempotency.identical_retry", "error.stale_update")
def test_drafts_are_what_a_model_of_them_is():
    run(Drafts, examples=6, steps=15)
