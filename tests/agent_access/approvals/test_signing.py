"""What is signed: whoever holds the session, the password, the page and the agent gets nowhere."""

from contextlib import contextmanager
from datetime import timedelta

import orjson
import pytest
from django.utils import timezone

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent
from agent_access.passkeys.challenges import LASTS, challenge_bytes, make_challenge
from agent_access.passkeys.models import Challenge, Passkey, Signature, SigningRules
from invoicing.models import Document
from tests.factories import make_draft
from tests.passkeys import SoftPasskey
from tests.signing import Asked, ask, demand
from tests.snapshots import take_snapshot

MINUTE = timedelta(minutes=1)


@pytest.fixture
def soft() -> SoftPasskey:
    return SoftPasskey(counter=5)


@pytest.fixture
def kept(soft, delegate) -> Passkey:
    return soft.keep_for(delegate, is_apart=True)


@pytest.fixture
def desk(sign_in, delegate, kept):
    return sign_in(delegate)


@pytest.fixture
def asked(agent, desk, draft_body) -> Asked:
    demand(always=True)
    return ask(agent, desk, draft_body)


@contextmanager
def nothing_is_approved(asked: Asked, reason: str):
    """Run a block, of which nothing must stay but its one event, and execute in vain."""
    changed = {"agent_passkeys_challenge", "agent_access_auditevent", "agent_access_chainhead"}
    changed |= {"django_session", "agent_access_receipt"}
    before = {name: rows for name, rows in take_snapshot().items() if name not in changed}
    yield
    after = {name: rows for name, rows in take_snapshot().items() if name not in changed}
    assert after == before
    events = AuditEvent.objects.filter(action="approval:signature_refused")
    [event] = events.filter(target=str(asked.approval.pk))
    assert (event.outcome, event.detail) == ("signature_refused", reason)
    assert event.chain == str(asked.approval.connection_id)
    assert_not_executable(asked)


def assert_not_executable(asked: Asked) -> None:
    answer = asked.execute(key="in-vain")
    assert (answer.status, answer.code) == (409, "approval_pending")
    assert asked.read()["status"] == "pending"
    assert not Document.objects.filter(status="issued").exists()


def test_what_is_signed_is_approved_and_executed(asked, soft, kept, delegate):
    assert asked.sign(soft).status_code == 302
    approval, signature = asked.approval, Signature.objects.get()
    assert approval.demand == signature.demand == '{"apart":false,"by":["always"]}'
    assert (signature.purpose, signature.record_id) == ("approve", approval.pk)
    assert (signature.person, signature.passkey) == (delegate, kept)
    assert (signature.facts, signature.fingerprint) == (approval.facts, approval.fingerprint)
    content = orjson.loads(signature.challenge)
    assert len(bytes.fromhex(content.pop("random"))) == 32
    assert content == {
        "purpose": "approve",
        "approval": str(approval.pk),
        "record": None,
        "user": str(delegate.pk),
        "nonce_digest": approval.nonce_digest,
        "fingerprint": approval.fingerprint,
        "decision": "approved",
    }
    assert asked.read()["status"] == "approved"
    assert asked.execute().status == 200
    assert Document.objects.get().is_issued


def test_without_a_demand_the_form_works_as_before(agent, desk, draft_body):
    asked = ask(agent, desk, draft_body)
    assert "passkey" not in desk.get(asked.path).content.decode()
    assert asked.approve().status_code == 302
    assert asked.approval.demand == ""
    assert asked.execute().status == 200
    assert not Signature.objects.exists()


def test_to_reject_needs_no_signature(asked, desk):
    form = {"decision": "reject", "fingerprint": asked.approval.fingerprint, "reason": "No."}
    assert desk.post(asked.path, form).status_code == 302
    assert (asked.approval.decision, asked.approval.demand) == ("rejected", None)


@pytest.mark.parametrize("assertion", [None, "", " ", "\0", "{}", "null", "[]", "x" * 30_000])
def test_a_form_without_an_assertion_approves_nothing(asked, assertion):
    is_missing = not assertion
    with nothing_is_approved(asked, "missing" if is_missing else "invalid"):
        answer = asked.approve(assertion)
    assert answer.status_code == (422 if is_missing else 403)
    said = "none was used" if is_missing else "did not confirm exactly this"
    assert said in answer.content.decode()


@pytest.mark.parametrize(
    "lie",
    [
        {"verifies": False},
        {"is_present": False},
        {"origin": "https://attacker.example"},
        {"origin": "https://invoices.example:8443"},
        {"rp_id": "attacker.example"},
        {"is_framed": True},
        {"counter": 5},
        {"counter": 0},
        {"key": SoftPasskey().key},
    ],
    ids=["no verification", "absent", "origin", "port", "rp", "framed", "same", "back", "key"],
)
def test_what_a_lying_browser_or_device_sends_approves_nothing(asked, soft, lie):
    challenge = asked.challenge()
    with nothing_is_approved(asked, "invalid"):
        assert asked.approve(soft.sign(challenge, **lie)).status_code == 403


def test_an_assertion_that_was_used_approves_nothing_else(asked, soft, agent, desk, draft_body):
    other = ask(agent, desk, draft_body, key="other")
    used = soft.sign(asked.challenge())
    assert asked.approve(used).status_code == 302
    with nothing_is_approved(other, "invalid"):
        assert other.approve(used).status_code == 403


def test_the_assertion_of_another_approval_approves_nothing(asked, soft, agent, desk, draft_body):
    other = ask(agent, desk, draft_body, key="other")
    meant_for_other = soft.sign(other.challenge())
    with nothing_is_approved(asked, "invalid"):
        assert asked.approve(meant_for_other).status_code == 403


def test_the_same_draft_asked_for_again_needs_another_signature(asked, soft, agent, desk):
    meant_for_first = soft.sign(asked.challenge())
    told = agent.call(
        "documents.issue_prepare", {"lock_version": 1}, id=asked.approval.target, key="again"
    ).data
    again = Asked(agent, desk, told)
    with nothing_is_approved(again, "invalid"):
        again.approve(meant_for_first)


def test_the_passkey_of_another_person_approves_nothing(asked, colleague):
    theirs = SoftPasskey()
    theirs.keep_for(colleague)
    challenge = asked.challenge()
    with nothing_is_approved(asked, "invalid"):
        assert asked.approve(theirs.sign(challenge)).status_code == 403


def test_another_person_is_given_no_challenge(asked, colleague, sign_in):
    for path in (f"{asked.path}/sign",):
        assert sign_in(colleague).post(path).status_code == 404
    assert not Challenge.objects.exists()


def test_a_challenge_of_another_session_of_the_person_approves_nothing(
    asked, soft, delegate, sign_in
):
    elsewhere = Asked(asked.agent, sign_in(delegate), asked.told)
    signed = soft.sign(elsewhere.challenge())
    with nothing_is_approved(asked, "invalid"):
        asked.approve(signed)


@pytest.mark.parametrize("purpose", ["add", "remove", "register", "sign-in", "do", "recover"])
def test_an_assertion_for_another_purpose_approves_nothing(asked, soft, desk, delegate, purpose):
    of_approval = _content_of(asked)
    person = None if purpose == "sign-in" else delegate
    made = make_challenge(purpose, session=_session_of(asked), person=person, **of_approval)
    with nothing_is_approved(asked, "invalid"):
        asked.approve(soft.sign(challenge_bytes(made)))


@pytest.mark.parametrize(
    "change",
    [
        {"approval": "0" * 8},
        {"nonce_digest": "0" * 64},
        {"fingerprint": "0" * 64},
        {"decision": "rejected"},
        {"record": "another"},
        {"more": "than is signed"},
    ],
    ids=str,
)
def test_a_challenge_about_anything_else_approves_nothing(asked, soft, delegate, change):
    content = {**_content_of(asked), **change}
    made = make_challenge("approve", session=_session_of(asked), person=delegate, **content)
    with nothing_is_approved(asked, "invalid"):
        asked.approve(soft.sign(challenge_bytes(made)))


def _content_of(asked: Asked) -> dict[str, str | None]:
    asked.challenge()
    content = orjson.loads(Challenge.objects.get().content)
    return {name: content[name] for name in content.keys() - {"purpose", "user", "random"}}


def _session_of(asked: Asked) -> str:
    return Challenge.objects.get().session


def test_a_challenge_that_is_over_approves_nothing(asked, soft, time_machine):
    signed = soft.sign(asked.challenge())
    time_machine.shift(LASTS + timedelta(seconds=1))
    with nothing_is_approved(asked, "invalid"):
        asked.approve(signed)


def test_a_passkey_made_a_minute_ago_approves_nothing(asked, delegate):
    new = SoftPasskey()
    new.keep_for(delegate, age=timedelta(minutes=9, seconds=30))
    with nothing_is_approved(asked, "too_new"):
        answer = asked.sign(new)
    assert answer.status_code == 403
    assert "added too short a time ago" in answer.content.decode()


def test_a_removed_passkey_approves_nothing(asked, soft, kept):
    signed = soft.sign(asked.challenge())
    Passkey.objects.update(removed_at=timezone.now())
    with nothing_is_approved(asked, "invalid"):
        asked.approve(signed)


def test_a_passkey_removed_after_it_signed_executes_nothing(asked, soft):
    asked.sign(soft)
    Passkey.objects.update(removed_at=timezone.now())
    assert_not_executable(asked)
    page = asked.desk.get(asked.path).content.decode()
    assert "The approval is not signed" in page
    assert 'name="decision"' not in page


def test_facts_that_changed_between_are_not_what_was_signed(asked, soft, agent, draft_body):
    signed = soft.sign(asked.challenge())
    changed = {**draft_body, "lock_version": 1, "notes": "Pay twice."}
    agent.call("drafts.update", changed, id=asked.approval.target, key="update")
    assert asked.approve(signed).status_code == 409
    assert asked.approval.decision == ""
    assert asked.execute().code == "approval_stale"


# Kept apart.


def begin_with(desk, passkey) -> None:
    session = desk.session
    session["passkey"] = str(passkey.pk)
    session.save()


def test_a_device_kept_apart_signs_in_a_session_that_it_began(asked, soft, kept, desk):
    demand(always=True, apart=True)
    begin_with(desk, kept)
    assert asked.sign(soft).status_code == 302
    assert Signature.objects.get().demand == '{"apart":true,"by":["always"]}'
    assert asked.execute().status == 200


def test_in_another_session_a_device_kept_apart_signs_nothing(asked, soft):
    """As with a code that a page shows and a phone scans: the page is another device's."""
    demand(always=True, apart=True)
    with nothing_is_approved(asked, "not_apart"):
        assert asked.sign(soft).status_code == 403
    page = asked.desk.get(asked.path).content.decode()
    assert "Open this page there" in page
    assert "Approve issue" not in page


def test_a_passkey_that_is_not_kept_apart_signs_nothing_in_its_own_session(
    asked, delegate, desk, kept
):
    demand(always=True, apart=True)
    near = SoftPasskey()
    begin_with(desk, near.keep_for(delegate))
    with nothing_is_approved(asked, "not_apart"):
        asked.sign(near)


def test_what_was_signed_near_is_not_what_was_demanded_apart(asked, soft):
    """Whoever lowers what was demanded in one table alone executes nothing."""
    asked.sign(soft)
    ApprovalRequest.objects.filter(pk=asked.approval.pk)
    without_triggers("approvalrequest", "demand", '{"apart":true,"by":["always"]}')
    assert_not_executable(asked)


# Whoever can write to the database.


def without_triggers(table: str, column: str, value: str | None) -> None:
    from django.db import connection  # noqa: PLC0415

    full = {"approvalrequest": "agent_approvals_approvalrequest"}.get(
        table, f"agent_passkeys_{table}"
    )
    with connection.cursor() as cursor:
        drop_triggers(cursor, full)
        cursor.execute(f"UPDATE {full} SET {column} = %s", [value])  # noqa: S608  constants only


def drop_triggers(cursor, table: str) -> None:
    from django.db import connection  # noqa: PLC0415

    if connection.vendor == "postgresql":
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        return
    cursor.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table]
    )
    for (name,) in cursor.fetchall():
        cursor.execute(f"DROP TRIGGER {name}")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("signature", "facts", "{}"),
        ("signature", "fingerprint", "0" * 64),
        ("signature", "challenge", "{}"),
        ("signature", "signature", "AAAA"),
        ("signature", "client_data", "e30"),
        ("signature", "public_key", "AAAA"),
        ("signature", "demand", '{"apart":false,"by":["value"]}'),
        ("signature", "purpose", "do"),
        ("passkey", "public_key", "AAAA"),
        ("approvalrequest", "nonce_digest", None),
        ("approvalrequest", "demand", None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_what_was_changed_by_sql_executes_nothing(asked, soft, table, column, value, colleague):
    asked.sign(soft)
    if column == "nonce_digest":  # the attacker's own nonce
        from agent_access.approvals.engine import digest_nonce  # noqa: PLC0415

        value = digest_nonce("theirs")
        asked.told["nonce"] = "theirs"
    if column == "demand" and value is None:
        drop_signatures()
    without_triggers(table, column, value)
    assert_not_executable(asked)


def drop_signatures() -> None:
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        drop_triggers(cursor, "agent_passkeys_signature")
        cursor.execute("DELETE FROM agent_passkeys_signature")


def test_an_approval_written_by_sql_without_a_signature_executes_nothing(asked):
    """Undecided and nulled alike: what is demanded now counts."""
    now = timezone.now()
    ApprovalRequest.objects.update(decision="approved", decided_at=now, demand=None)
    assert_not_executable(asked)


def test_a_deleted_signature_executes_nothing(asked, soft):
    asked.sign(soft)
    drop_signatures()
    assert_not_executable(asked)


def test_the_signature_of_another_approval_counts_for_none(asked, soft, agent, desk, draft_body):
    other = ask(agent, desk, draft_body, key="other")
    asked.sign(soft)
    now = timezone.now()
    ApprovalRequest.objects.filter(pk=other.approval.pk).update(
        decision="approved", decided_at=now, demand=asked.approval.demand
    )
    without_triggers("signature", "record_id", _as_stored(other.approval.pk))
    assert_not_executable(other)


def _as_stored(pk) -> str:
    from django.db import connection  # noqa: PLC0415

    return str(pk) if connection.vendor == "postgresql" else pk.hex


# When rules change between.


def test_what_is_demanded_when_it_is_approved_counts(agent, desk, draft_body, soft):
    asked = ask(agent, desk, draft_body)
    demand(always=True)
    with nothing_is_approved(asked, "missing"):
        asked.approve()
    assert asked.sign(soft).status_code == 302
    assert asked.execute().status == 200


def test_a_rule_of_today_does_not_undo_what_was_approved_before_it(agent, desk, draft_body):
    asked = ask(agent, desk, draft_body)
    asked.approve()
    demand(always=True)
    assert asked.execute().status == 200


def test_what_was_demanded_stays_demanded_when_the_rule_is_gone(asked, soft):
    asked.sign(soft)
    SigningRules.objects.update(always=False)
    drop_signatures()
    assert_not_executable(asked)


@pytest.mark.parametrize("is_demanded", [False, True])
def test_what_was_approved_before_demands_were_kept_needs_what_is_demanded_now(
    agent, desk, draft_body, is_demanded
):
    asked = ask(agent, desk, draft_body)
    now = timezone.now()
    ApprovalRequest.objects.update(decision="approved", decided_at=now, demand=None)
    if is_demanded:
        demand(always=True)
        assert_not_executable(asked)
    else:
        assert asked.execute().status == 200


# Which acts.


def test_what_one_connection_does_is_signed(agent, connection, desk, draft_body, connect, delegate):
    demand(connections=[str(connection.pk)])
    asked = ask(agent, desk, draft_body)
    with nothing_is_approved(asked, "missing"):
        asked.approve()
    _, another = connect(delegate)
    assert ask(another, desk, draft_body).approve().status_code == 302


def test_what_concerns_one_party_is_signed(agent, desk, draft_body, customer):
    asked = ask(agent, desk, draft_body)
    demand(parties=[str(customer.pk)])
    with nothing_is_approved(asked, "missing"):
        asked.approve()
    demand(parties=[str(asked.approval.pk)])
    assert asked.approve().status_code == 302


def body_of(draft_body, unit_price: str, currency: str = "EUR"):
    line = {"description": "Work", "quantity": "1", "unit_price": unit_price, "unit": "h"}
    return {**draft_body, "currency_code": currency, "line_items": [line]}


def test_up_to_the_limit_of_its_currency_nothing_is_signed(agent, desk, draft_body):
    demand(limits={"EUR": "100.00"})
    assert ask(agent, desk, body_of(draft_body, "10000")).approve().status_code == 302


@pytest.mark.parametrize(
    ("price", "currency"), [("10001", "EUR"), ("1", "USD"), ("0", "USD"), ("1", "JPY")]
)
def test_above_it_and_in_a_currency_without_one_it_is(agent, desk, draft_body, price, currency):
    demand(limits={"EUR": "100.00"})
    asked = ask(agent, desk, body_of(draft_body, price, currency))
    with nothing_is_approved(asked, "missing"):
        asked.approve()


@pytest.mark.parametrize("is_executed", [False, True])
def test_parts_of_an_amount_count_together(agent, desk, draft_body, is_executed):
    demand(limits={"EUR": "100.00"})
    first = ask(agent, desk, body_of(draft_body, "6000"), key="first")
    assert first.approve().status_code == 302
    if is_executed:
        assert first.execute().status == 200
    second = ask(agent, desk, body_of(draft_body, "4001"), key="second")
    assert second.approve().status_code == 422
    assert second.approval.decision == ""
    third = ask(agent, desk, body_of(draft_body, "4000"), key="third")
    assert third.approve().status_code == 302


def test_parts_in_several_currencies_use_up_one_limit(agent, desk, draft_body):
    demand(limits={"EUR": "100.00", "USD": "200.00"})
    assert ask(agent, desk, body_of(draft_body, "6000"), key="1").approve().status_code == 302
    dollars = body_of(draft_body, "8001", "USD")
    assert ask(agent, desk, dollars, key="2").approve().status_code == 422
    dollars = body_of(draft_body, "8000", "USD")
    assert ask(agent, desk, dollars, key="3").approve().status_code == 302


def test_what_was_done_a_day_ago_counts_no_more(agent, desk, draft_body, time_machine, connect):
    demand(limits={"EUR": "100.00"})
    first = ask(agent, desk, body_of(draft_body, "10000"), key="1")
    first.approve()
    first.execute()
    time_machine.shift(timedelta(hours=23, minutes=59))
    assert ask(agent, desk, body_of(draft_body, "1"), key="2").approve().status_code == 422
    time_machine.shift(2 * MINUTE)
    assert ask(agent, desk, body_of(draft_body, "1"), key="3").approve().status_code == 302


def test_what_another_person_did_does_not_count(agent, desk, draft_body, customer, colleague):
    demand(limits={"EUR": "100.00"})
    make_draft(user=colleague, customer=customer)
    Document.objects.update(currency_code="EUR")
    assert ask(agent, desk, body_of(draft_body, "10000")).approve().status_code == 302
