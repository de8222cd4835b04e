"""Issuing by hand where a passkey is demanded: whoever holds session and password gets nowhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest

from agent_access.models import AuditEvent
from agent_access.passkeys.models import Passkey, Signature
from invoicing.decisions import issue_by_hand
from invoicing.fixed_point import SCALE
from invoicing.models import Document
from invoicing.money import MAX_AMOUNT
from invoicing.services.drafts import update_draft
from invoicing.signed_issues import sum_earlier
from tests.administration import ORIGIN
from tests.approvals import fingerprint_draft, prepare
from tests.factories import draft_input, line_input, make_draft, make_issued
from tests.passkeys import SoftPasskey, challenge_in
from tests.plans import plans_of, prefer_indexes
from tests.signing import ask, demand
from tests.snapshots import take_snapshot


@pytest.fixture
def soft(delegate) -> SoftPasskey:
    soft = SoftPasskey(counter=5)
    soft.keep_for(delegate, is_apart=True)
    return soft


@pytest.fixture
def desk(sign_in, delegate, soft):
    return sign_in(delegate)


@pytest.fixture
def draft(delegate, customer):
    return make_draft(
        user=delegate, customer=customer, lines=(line_input(quantity=SCALE, unit_price=10_000),)
    )


def challenge_for(desk, draft) -> bytes:
    return challenge_in(desk.post(f"/documents/{draft.pk}/issue/sign").json()["publicKey"])


def issue(desk, draft, assertion: str | None = None) -> Any:
    form = {"fingerprint": fingerprint_draft(Document.objects.get(pk=draft.pk))}
    if assertion is not None:
        form["assertion"] = assertion
    return desk.post(f"/documents/{draft.pk}/issue", form)


@contextmanager
def nothing_is_issued(draft, reason: str) -> Iterator[None]:
    before = _what_is_kept()
    yield
    assert _what_is_kept() == before
    [event] = AuditEvent.objects.filter(action="document:signature_refused")
    assert (event.target, event.outcome, event.detail) == (
        str(draft.pk),
        "signature_refused",
        reason,
    )
    assert event.chain == "administration"


def _what_is_kept() -> dict[str, Any]:
    kept = take_snapshot()
    del kept["agent_passkeys.Challenge"]
    return kept


def test_what_is_signed_is_issued(desk, draft, soft, delegate):
    demand(always=True)
    page = desk.get(f"/documents/{draft.pk}/issue").content.decode()
    assert "This is signed with your passkey" in page
    shown = fingerprint_draft(draft)
    assert issue(desk, draft, soft.sign(challenge_for(desk, draft))).status_code == 302

    issued, signature = Document.objects.get(), Signature.objects.get()
    assert issued.is_issued
    assert (signature.purpose, signature.record_id) == ("do", draft.pk)
    assert (signature.person, signature.fingerprint) == (delegate, shown)
    content = orjson.loads(signature.challenge)
    del content["random"]
    assert content == {
        "purpose": "do",
        "approval": None,
        "record": str(draft.pk),
        "user": str(delegate.pk),
        "nonce_digest": None,
        "fingerprint": shown,
        "decision": "done",
    }


def test_without_a_demand_nothing_is_asked(desk, draft):
    assert "passkey" not in desk.get(f"/documents/{draft.pk}/issue").content.decode()
    assert issue(desk, draft).status_code == 302
    assert not Signature.objects.exists()


def test_without_an_assertion_nothing_is_issued(desk, draft):
    demand(always=True)
    with nothing_is_issued(draft, "missing"):
        answer = issue(desk, draft)
    assert answer.status_code == 422
    assert "Nothing was issued just now." in answer.content.decode()


@pytest.mark.parametrize(
    "lie",
    [{"verifies": False}, {"origin": "https://attacker.example"}, {"rp_id": "a"}, {"counter": 5}],
    ids=str,
)
def test_what_a_lying_browser_or_device_sends_issues_nothing(desk, draft, soft, lie):
    demand(always=True)
    signed = soft.sign(challenge_for(desk, draft), **lie)
    with nothing_is_issued(draft, "invalid"):
        assert issue(desk, draft, signed).status_code == 403


def test_the_signature_for_another_document_issues_nothing(desk, draft, soft, delegate, customer):
    demand(always=True)
    other = make_draft(user=delegate, customer=customer)
    signed = soft.sign(challenge_for(desk, other))
    with nothing_is_issued(draft, "invalid"):
        issue(desk, draft, signed)


def test_the_signature_of_an_approval_issues_nothing_by_hand(agent, desk, draft_body, soft):
    demand(always=True)
    asked = ask(agent, desk, draft_body)
    document = Document.objects.get()
    signed = soft.sign(asked.challenge())
    with nothing_is_issued(document, "invalid"):
        issue(desk, document, signed)


def test_a_draft_that_changed_since_it_was_signed_is_not_issued(desk, draft, soft, delegate):
    demand(always=True)
    signed = soft.sign(challenge_for(desk, draft))
    changed = draft_input(draft.customer, line_input(quantity=SCALE, unit_price=99_000))
    update_draft(delegate, draft.pk, changed, lock_version=draft.lock_version)
    with nothing_is_issued(draft, "invalid"):
        issue(desk, draft, signed)


def test_a_young_passkey_issues_nothing(desk, draft, delegate):
    demand(always=True)
    new = SoftPasskey()
    new.keep_for(delegate, age=timedelta(minutes=9))
    signed = new.sign(challenge_for(desk, draft))
    with nothing_is_issued(draft, "too_new"):
        issue(desk, draft, signed)


def test_apart_a_session_that_began_elsewhere_issues_nothing(desk, draft, soft):
    demand(always=True, apart=True)
    signed = soft.sign(challenge_for(desk, draft))
    with nothing_is_issued(draft, "not_apart"):
        issue(desk, draft, signed)
    session = desk.session
    session["passkey"] = str(Passkey.objects.get().pk)
    session.save()
    assert issue(desk, draft, soft.sign(challenge_for(desk, draft))).status_code == 302


def test_parts_by_hand_and_by_an_agent_count_together(agent, desk, draft, draft_body, soft):
    demand(limits={draft.currency_code: "100.00"})
    assert issue(desk, draft).status_code == 302
    line = {"description": "Work", "quantity": "1", "unit_price": "1", "unit": "h"}
    body = {**draft_body, "currency_code": draft.currency_code, "line_items": [line]}
    asked = ask(agent, desk, body)
    assert asked.approve().status_code == 422
    assert asked.sign(soft).status_code == 302


def test_parts_by_an_agent_and_then_by_hand_count_together(desk, draft, delegate, customer):
    demand(limits={draft.currency_code: "100.00"})
    small = make_draft(
        user=delegate, customer=customer, lines=(line_input(quantity=SCALE, unit_price=1),)
    )
    approved = prepare(small, user=delegate)
    approved.decide()  # long ago: it can no longer be executed
    assert issue(desk, draft).status_code == 302
    last = make_draft(
        user=delegate, customer=customer, lines=(line_input(quantity=SCALE, unit_price=1),)
    )
    assert issue(desk, last).status_code == 422


def test_what_counts_is_the_absolute_total_of_the_day_in_units(delegate, customer, colleague):
    def issue_now(user, currency: str, price: int) -> None:
        lines = (line_input(quantity=SCALE, unit_price=price),)
        made = make_draft(user=user, customer=customer, currency_code=currency, lines=lines)
        issue_by_hand(user, made.pk, fingerprint=fingerprint_draft(made), origin=ORIGIN)

    issue_now(delegate, "EUR", 12_345)
    issue_now(delegate, "EUR", 5)
    issue_now(delegate, "JPY", 700)
    issue_now(colleague, "EUR", 99_999)
    for _ in range(12):
        issue_now(delegate, "USD", MAX_AMOUNT)
    this = make_draft(user=delegate, customer=customer)
    assert sum_earlier(delegate, this) == {
        "EUR": Decimal("123.50"),
        "JPY": Decimal(700),
        "USD": Decimal("119999999999999999.88"),
    }


def test_the_day_of_a_customer_is_read_by_an_index(delegate, customer, draft):
    for _ in range(30):
        make_issued(user=delegate, customer=customer)
    prefer_indexes()
    plans = plans_of(lambda: sum_earlier(delegate, draft), where="issued_at")
    assert "document_by_issued_at" in plans
