"""Clients that register themselves: public ones only, with addresses that can be trusted."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from agent_access.models import AuditEvent
from agent_access.oauth import registration
from agent_access.oauth.models import Application
from tests.interface.refusals import nothing_changes
from tests.oauth.editors import CURSOR, VS_CODE
from tests.oauth.programs import RETURN_ADDRESS, refusal_of

FIT = [
    *("https://client.example/callback", "https://client.example", "https://xn--mnchen-3ya.x/"),
    *("https://client.example:8443/a/b?x=1&y=%20", "https://127.0.0.1.evil.example/"),
    *("http://localhost/callback", "http://localhost:6274/oauth/callback", "http://127.0.0.1"),
    *("http://127.0.0.1:33418/", "http://[::1]:9/x", "http://[::1]/x"),
    "https://" + "a." * 126 + "b/",  # the longest host of DNS, 253 characters
]
# What may stand at no place of an address.
SCHEMES = ["//client.example/", "client.example/", "cursor://callback", "javascript:alert(1)"]
SCHEMES += ["data:text/html,x", "ftp://client.example/", "http://client.example/", "https:///x"]
SCHEMES += ["https:client.example", "https://", "", " https://client.example/"]
NO_LOOPBACK = ["127.0.0.1.evil.example", "localhost.evil.example", "localhost@evil.example"]
NO_LOOPBACK += ["127.0.0.2", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "LOCALHOST"]  # noqa: S104  a host to refuse
NO_LOOPBACK += ["[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "localhost."]
NO_LOOPBACK += ["localhost\\@evil.example"]
PORTS = ["0", "65536", "99999", "080", ""]
HOSTS = ["client.example\\@evil.example", "user@client.example", "user:secret@client.example"]
HOSTS += ["[:::]", "cli\u0435nt.example", "client..example", "-client.example", "*.example"]
HOSTS += ["client.example:0", "client.example:65536", "a." * 126 + "bc"]
RESTS = ["#", "#part", " b", "a\tb", "\x00", "\n", "%zz", "\u202e", "a" * 2000]
RESTS += ["?code=x", "?a=1&iss=https%3A%2F%2Fevil.example", "?state"]
UNFIT = [
    *SCHEMES,
    *(f"http://{host}/" for host in NO_LOOPBACK),
    *(f"http://localhost:{port}/" for port in PORTS),
    *(f"https://{host}/" for host in HOSTS),
    *(f"https://client.example/{rest}" for rest in RESTS),
    *(None, 7, ["https://client.example/"]),
]


def register(machine, **metadata: Any):
    return machine.post_json("/oauth/register", {"redirect_uris": [RETURN_ADDRESS], **metadata})


@pytest.mark.requirement("sign_in.register", "sign_in.public_clients")
def test_a_registration_answers_with_a_public_client(machine):
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        answer = register(machine, client_name="Ledger agent", scope="anything", logo_uri="x")
    client = Application.objects.get()
    assert answer.status == 201
    assert answer.body == {
        "client_id": client.client_id,
        "client_id_issued_at": int(now.timestamp()),
        "client_name": "Ledger agent",
        "redirect_uris": [RETURN_ADDRESS],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    assert answer.headers["Cache-Control"] == "no-store"
    assert (client.client_type, client.client_secret) == ("public", "")
    event = AuditEvent.objects.latest("sequence")
    assert (event.action, event.target) == ("client:registered", client.client_id)


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post", None])
def test_whatever_way_to_authenticate_is_asked_there_is_never_a_secret(machine, method):
    answer = register(machine, token_endpoint_auth_method=method)
    assert answer.status == 201
    assert answer.body["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in answer.body


@pytest.mark.requirement("sign_in.return_addresses")
@pytest.mark.parametrize("address", FIT)
def test_a_fit_return_address_is_registered_as_it_is(machine, address):
    answer = register(machine, redirect_uris=[address])
    assert (answer.status, answer.body["redirect_uris"]) == (201, [address])


@pytest.mark.requirement("sign_in.return_addresses", "sign_in.errors")
def test_an_unfit_return_address_alone_is_refused(machine, subtests):
    with nothing_changes():
        for address in UNFIT:
            with subtests.test(address=ascii(address)[:60]):
                answer = register(machine, redirect_uris=[address])
                assert refusal_of(answer) == (400, "invalid_redirect_uri")
                assert "of those sent, 0 can be kept" in answer.body["error_description"]
        for no_list in (None, RETURN_ADDRESS, True):
            answer = register(machine, redirect_uris=no_list)
            assert refusal_of(answer) == (400, "invalid_redirect_uri")


@pytest.mark.requirement("sign_in.return_addresses")
def test_an_unfit_return_address_beside_a_fit_one_is_left_out(machine, subtests):
    for address in UNFIT:
        with subtests.test(address=ascii(address)[:60]):
            answer = register(machine, redirect_uris=[address, RETURN_ADDRESS, address])
            assert (answer.status, answer.body["redirect_uris"]) == (201, [RETURN_ADDRESS])
    kept = Application.objects.values_list("redirect_uris", flat=True)
    assert list(kept) == [RETURN_ADDRESS] * len(UNFIT)


@pytest.mark.requirement("limit.return_addresses", "sign_in.return_addresses")
@pytest.mark.parametrize(("count", "status"), [(0, 400), (1, 201), (5, 201), (6, 400)])
def test_a_client_has_one_to_five_return_addresses(machine, count, status):
    """Of more than five none is left out: it might be the one that the client will use."""
    uris = [f"https://client.example/{number}" for number in range(count)]
    answer = register(machine, redirect_uris=["cursor://callback", *uris, *uris])
    assert answer.status == status
    if status == 201:
        assert answer.body["redirect_uris"] == uris
    else:
        assert f"of those sent, {count} can be kept" in answer.body["error_description"]


@pytest.mark.parametrize("registration", [CURSOR, VS_CODE], ids=["cursor", "vs_code"])
def test_the_registrations_of_known_editors_are_accepted(machine, registration):
    answer = machine.post_json("/oauth/register", registration)
    fit = [uri for uri in registration["redirect_uris"] if not uri.startswith("cursor:")]
    assert answer.status == 201
    assert answer.body["redirect_uris"] == fit
    assert answer.body["client_name"] == registration["client_name"]


@pytest.mark.parametrize("scope", ["openid profile offline_access", "", "invoices:read x", 7, None])
def test_whatever_scope_a_client_registers_with_it_may_ask_for_any(machine, scope):
    answer = register(machine, scope=scope)
    assert answer.status == 201
    assert "scope" not in answer.body


@pytest.mark.parametrize(
    "metadata",
    [
        {"client_name": 7},
        {"grant_types": ["refresh_token"]},
        {"grant_types": "authorization_code"},
        {"grant_types": [["authorization_code"]]},
        {"response_types": []},
    ],
)
def test_metadata_of_another_kind_of_client_is_refused(machine, metadata):
    with nothing_changes():
        answer = register(machine, **metadata)
    assert refusal_of(answer) == (400, "invalid_client_metadata")


ACCENTED = "Ti\u1ebfng Vi\u1ec7t \u0939\u093f\u0928\u094d\u0926\u0940"


@pytest.mark.parametrize(
    ("claimed", "kept"),
    [
        ("  Ledger \n agent  ", "Ledger agent"),
        ("\u202eLedger\u202c \u200bagent\u2066", "Ledger agent"),
        ("\x00Ledger\x1b[31m", "Ledger[31m"),
        ("\ud800Ledger", "Ledger"),
        ("<b>Ledger</b>", "<b>Ledger</b>"),
        ("Ledger\nagent\u00a0\u3000one", "Ledger agent one"),
        ("\u3164Led\u115fger\ufe0f\u2800\uffa0 \u034fagent\U000e0101", "Ledger agent"),
        ("\u2067\u061cLedger\ufeff\u00ad\u2060\u180e\u200f", "Ledger"),
        ("Le" + "\u0301\u0302\u0303\u0304" * 20 + "dger", "L\u00e9\u0302\u0303dger"),
        (ACCENTED, ACCENTED),
        ("L" * 300, "L" * 100),
        ("\u202e\u200b\u3164\u2800", "client.example"),
        (None, "client.example"),
    ],
)
def test_a_name_is_kept_as_it_will_be_seen(machine, claimed, kept):
    assert register(machine, client_name=claimed).body["client_name"] == kept


def test_a_client_without_a_name_is_called_by_the_end_of_its_long_host(machine):
    """The beginning is what a stranger chooses freely."""
    host = "accounts.bank.example." + "a." * 100 + "evil.example"
    answer = register(machine, redirect_uris=[f"https://{host}/"])
    assert answer.body["client_name"] == f"…{host[-99:]}"


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b"{", b"\xff", b'{"redirect_uris":[],"redirect_uris":[]}', b"[" * 9000],
)
def test_a_body_that_is_no_object_is_refused(machine, body):
    answer = machine.send("POST", "/oauth/register", body)
    assert refusal_of(answer) == (400, "invalid_client_metadata")


def test_a_registration_without_a_connection_is_forgotten_after_thirty_days(
    program, obtain_code, register_program
):
    unused = register_program("https://unused.example/")
    obtain_code(program)
    created = Application.objects.get(client_id=unused.client_id).created
    with time_machine.travel(created + timedelta(days=30), tick=False) as clock:
        register_program()
        assert Application.objects.count() == 3
        clock.shift(timedelta(microseconds=1))
        register_program()
    kept = set(Application.objects.values_list("client_id", flat=True))
    assert unused.client_id not in kept
    assert program.client_id in kept


def test_one_registration_forgets_a_bounded_number_of_the_oldest(
    register_program, monkeypatch, machine
):
    monkeypatch.setattr(registration, "SWEEP", 2)
    old = [register_program() for _ in range(5)]
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        register_program()
        kept = set(Application.objects.values_list("client_id", flat=True))
        assert [each.client_id in kept for each in old] == [False, False, True, True, True]
        register_program()
        register_program()
    assert Application.objects.count() == 3
