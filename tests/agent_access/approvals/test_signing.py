"""What is signed: whoever holds the session, the password, the page and the agent gets nowhere."""

from datetime import timedelta

import orjson
import pytest
from django.utils import timezone

from agent_access.passkeys.challenges import LASTS, challenge_bytes, make_challenge
from agent_access.passkeys.models import Challenge, Passkey, Signature
from invoicing.models import Document
from tests.passkeys import SoftPasskey
from tests.signing import (
    Asked,
    ask,
    assert_not_executable,
    change_past_triggers,
    demand,
    nothing_is_approved,
)

REQUESTS = "agent_approvals_approvalrequest"


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


@pytest.mark.parametrize("assertion", [None, "", " ", "{}", "null", "[]", "x" * 30_000])
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
    change_past_triggers(REQUESTS, "demand", '{"apart":true,"by":["always"]}')
    assert_not_executable(asked)
