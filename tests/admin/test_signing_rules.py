"""The owner's page of what has to be signed: less is demanded only with a passkey of theirs."""

import re
from datetime import timedelta
from typing import Any

import pytest

from agent_access.models import AuditEvent
from agent_access.passkeys.models import SigningRules
from agent_access.passkeys.ruling import is_looser
from invoicing.access import Permission
from tests.factories import CustomerFactory, UserFactory, grant
from tests.passkeys import SoftPasskey, challenge_in
from tests.signing import demand

PAGE = "/admin/agent_passkeys/signingrules/"
FORM: dict[str, Any] = {"limits": "", "new_party": ""}


@pytest.fixture
def soft(owner) -> SoftPasskey:
    soft = SoftPasskey(counter=1)
    soft.keep_for(owner)
    return soft


def save(desk, **fields: Any) -> Any:
    return desk.post(PAGE, FORM | fields)


def rules() -> dict[str, Any]:
    kept = SigningRules.read()
    return {
        name: getattr(kept, name)
        for name in ("always", "connections", "parties", "limits", "apart")
    }


NOTHING = {"always": False, "connections": [], "parties": [], "limits": {}, "apart": False}


def test_the_owner_chooses_what_is_signed_and_it_is_audited(owner_desk, soft, connection, owner):
    customer = CustomerFactory.create(name="Dear Ltd")
    grant(owner, Permission.VIEW_CUSTOMER, Permission.VIEW_ALL_CUSTOMERS)
    answer = save(
        owner_desk,
        always="on",
        connections=[str(connection.pk)],
        new_party="Dear Ltd",
        limits="EUR 1000\nUSD 1200.50",
        apart="on",
    )
    assert answer.status_code == 302
    assert rules() == {
        "always": True,
        "connections": [str(connection.pk)],
        "parties": [str(customer.pk)],
        "limits": {"EUR": "1000", "USD": "1200.50"},
        "apart": True,
    }
    event = AuditEvent.objects.get(action="signing:rules_changed")
    assert event.detail == "always; 1 connections; 1 parties; above EUR 1000, USD 1200.50; apart"
    assert (event.actor_id, event.chain) == (owner.pk, "administration")
    assert re.fullmatch("[0-9a-f]{64}", event.content_digest or "")
    assert "Dear Ltd" in owner_desk.get(PAGE).content.decode()


def test_nobody_but_the_owner_sees_or_changes_it(desk, sign_in, delegate):
    demand(always=True)
    for browser in (desk, sign_in(delegate)):
        assert browser.get(PAGE).status_code == 403
        assert save(browser).status_code == 403
        assert browser.post(f"{PAGE}sign/").status_code == 403
    assert rules()["always"]


def test_it_cannot_be_turned_on_without_a_passkey(owner_desk):
    answer = save(owner_desk, always="on")
    assert answer.status_code == 422
    assert "Add a passkey of your own first" in answer.content.decode()
    assert rules() == NOTHING


def test_who_has_an_agent_and_no_passkey_is_named(owner_desk, soft, connect, delegate):
    connect(delegate)
    shown = owner_desk.get(PAGE).content.decode()
    assert "could sign nothing" in shown
    assert f"<li><bdi>{delegate.name}</bdi></li>" in shown
    SoftPasskey().keep_for(delegate)
    assert "could sign nothing" not in owner_desk.get(PAGE).content.decode()


def test_less_is_demanded_with_a_passkey_over_exactly_the_new_rules(owner_desk, soft):
    demand(always=True)
    answer = save(owner_desk)
    assert answer.status_code == 422
    assert "Nothing was changed yet." in answer.content.decode()
    assert rules()["always"]

    challenge = challenge_in(owner_desk.post(f"{PAGE}sign/", FORM).json()["publicKey"])
    assert save(owner_desk, assertion=soft.sign(challenge)).status_code == 302
    assert rules() == NOTHING
    assert AuditEvent.objects.get(action="signing:rules_changed").detail == "nothing"


@pytest.mark.parametrize(
    ("signed", "lie", "reason"),
    [
        ({"limits": "EUR 5"}, {}, "invalid"),
        ({}, {"verifies": False}, "invalid"),
        ({}, {"origin": "https://attacker.example"}, "invalid"),
        ({}, {"counter": 1}, "invalid"),
    ],
    ids=str,
)
def test_what_allows_anything_else_lowers_nothing(owner_desk, soft, signed, lie, reason):
    demand(always=True)
    options = owner_desk.post(f"{PAGE}sign/", FORM | signed).json()["publicKey"]
    answer = save(owner_desk, assertion=soft.sign(challenge_in(options), **lie))
    assert answer.status_code == 403
    assert rules()["always"]
    event = AuditEvent.objects.get(action="signing:refused")
    assert (event.outcome, event.detail) == ("signature_refused", reason)


def test_an_assertion_of_another_person_or_a_young_passkey_lowers_nothing(owner_desk, soft, owner):
    demand(always=True)
    other, young = SoftPasskey(), SoftPasskey()
    other.keep_for(UserFactory.create())
    young.keep_for(owner, age=timedelta(minutes=9))
    for passkey in (other, young):
        options = owner_desk.post(f"{PAGE}sign/", FORM).json()["publicKey"]
        answer = save(owner_desk, assertion=passkey.sign(challenge_in(options)))
        assert answer.status_code == 403
    assert rules()["always"]
    details = AuditEvent.objects.filter(action="signing:refused").values_list("detail", flat=True)
    assert sorted(details) == ["invalid", "too_new"]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("EUR", "This is no unit with a number"),
        ("EUR -1", "This is no unit with a number"),
        ("EUR 1e9", "This is no unit with a number"),
        ("EUR 1\nEUR 2", "Write each unit once"),
        ("EUR 1.000", "This can be read in two ways: 1.000."),
        ("EUR 1,000", "This can be read in two ways: 1,000."),
    ],
)
def test_a_limit_that_is_none_is_not_kept(owner_desk, soft, limits, said):
    answer = save(owner_desk, limits=limits)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert rules() == NOTHING


def test_a_limit_has_a_dot_or_a_comma_before_decimals_and_is_read_as_it_is_shown(owner_desk, soft):
    assert save(owner_desk, limits="EUR 1200,50\nh 7.1250").status_code == 302
    assert rules()["limits"] == {"EUR": "1200.50", "h": "7.1250"}
    SigningRules.objects.update(limits={"h": "7.125"})
    assert "h 7.1250</textarea>" in owner_desk.get(PAGE).content.decode()


def test_a_name_that_nobody_has_is_not_kept(owner_desk, soft):
    answer = save(owner_desk, always="on", new_party="Nobody Ltd")
    assert answer.status_code == 422
    assert "Nobody whom you may see is called exactly so." in answer.content.decode()
    assert rules() == NOTHING


ALL = NOTHING | {"always": True}
ONE = NOTHING | {"connections": ["a"], "parties": ["b"], "limits": {"EUR": "10"}}


@pytest.mark.parametrize(
    ("former", "chosen", "expected"),
    [
        (NOTHING, ALL, False),
        (NOTHING | {"apart": True}, NOTHING, False),
        (ALL, NOTHING, True),
        (ALL, ALL | {"apart": True}, False),
        (ALL | {"apart": True}, ALL, True),
        (ALL, ONE, True),
        (ONE, ALL, False),
        (ONE, ONE | {"connections": []}, True),
        (ONE, ONE | {"connections": ["a", "c"]}, False),
        (ONE, ONE | {"parties": ["c"]}, True),
        (ONE, ONE | {"limits": {}}, True),
        (ONE, ONE | {"limits": {"EUR": "10.01"}}, True),
        (ONE, ONE | {"limits": {"EUR": "9"}}, False),
        (ONE, ONE | {"limits": {"EUR": "10", "USD": "1"}}, True),
        (ONE | {"limits": {"EUR": "10", "USD": "1"}}, ONE, False),
    ],
)
def test_whether_less_is_demanded(former, chosen, expected):
    assert is_looser(SigningRules(**chosen), SigningRules(**former)) is expected
