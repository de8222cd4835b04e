"""What strangers write is read or refused: each reader has one error, and what it reads it keeps.

Here are the readers that need no database: JSON, return addresses, names, network addresses, HTTP
Basic, push subscriptions, and what a browser says of a passkey.
"""

import base64
import ipaddress
import json
import math
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from agent_access.bodies import MAX_NESTING, parse_json
from agent_access.errors import UnreadableJsonError
from agent_access.models.connections import NAME_LENGTH
from agent_access.oauth.basic_scheme import name_client
from agent_access.oauth.client_metadata import InvalidMetadataError, clean_name, read_metadata
from agent_access.oauth.return_addresses import (
    add_answer,
    host_of,
    is_loopback,
    is_registered,
    may_register,
    policy_source,
)
from agent_access.outgoing import NAT64, is_public
from agent_access.passkeys.sent import (
    MadeUpError,
    challenge_digest,
    decode,
    encode,
    read_credential,
)
from agent_access.telling.devices import DeviceError, read_subscription
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import (
    ODD_TEXTS,
    spoilt_bytes,
    spoilt_values,
    write,
)
from tests.passkeys import SoftPasskey

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def spoilt(value: Any, *, times: int = 3) -> st.SearchStrategy[Any]:
    """Return what draws the JSON value with up to so many places of it spoilt."""
    drawn = st.just(value)
    for _ in range(times):
        drawn = drawn | drawn.flatmap(spoilt_values)
    return drawn


def floats_of(value: Any) -> Iterator[Any]:
    """Yield every broken number in a JSON value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from floats_of(inner)
    elif isinstance(value, float):
        yield value


def depth_of(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth_of, inner), default=0) if isinstance(value, dict | list) else 0


def refuse_doubled(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


BODY = {"a": [1, -0.5, "é\U0001f600", None, {"b": {}}], "c": True, "": [[[]]]}


def test_json_is_what_every_reader_takes_for_the_same_or_it_is_refused():
    @try_hard(20, long=400)
    @given(spoilt(BODY), st.booleans(), st.data())
    def fuzz(value: Any, ascii_only: bool, data: st.DataObject) -> None:  # noqa: FBT001  drawn
        tally["JSON"] += 1
        body = write(value, ascii_only=ascii_only)
        for _ in range(data.draw(st.integers(0, 3))):
            body = data.draw(spoilt_bytes(body))
        try:
            read = parse_json(body)
        except UnreadableJsonError:
            return
        assert depth_of(read) <= MAX_NESTING
        # A plain reader that refuses what is doubled reads the same, but for numbers too large.
        plain = json.loads(body.decode(), object_pairs_hook=refuse_doubled)
        if all(map(math.isfinite, floats_of(read))):
            assert plain == read
            assert parse_json(write(read, ascii_only=True)) == read

    fuzz()


HOSTS = st.sampled_from(
    (
        *("client.example", "localhost", "127.0.0.1", "[::1]", "xn--bcher-kva.example", "[::]"),
        *("LOCALHOST", "127.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "a..b", "a" * 64, "-a-", "é"),
        *("client.example:443", "client.example:0", "localhost:65536", "user@client.example"),
        *("client.example\\@evil.example", "client.example#@evil.example", "client.example%00"),
        *("client.example%2eevil.example", "client.example;a", "client.example,b", "[::1%25eth0]"),
    )
)
SCHEMES = st.sampled_from(
    (*("https", "http", "HTTPS", "javascript", "data", "custom", "https:", ""), "ftp")
)
ODD_PATHS = st.sampled_from(
    (
        *("", "/", "/callback", "/callback?a=1", "/a/../b", "//evil.example", "/\\evil", "?code=1"),
        *("/?a=1&state=2", "/#fragment", "/%0d%0aSet-Cookie:a", "/;p", "/a b", "/é", "/?iss", "/?"),
        *("/%", "/%zz", "/?a='b", '/?a="b', "/<script>", "/?%63ode=1", "/?a=1;code=2", "/" * 3000),
    )
)
ADDRESSES = st.builds("{}://{}{}".format, SCHEMES, HOSTS, ODD_PATHS | ODD_TEXTS)
ANSWER = [("code", "c"), ("state", "a&b=c#d"), ("iss", "https://invoices.example")]


def test_a_return_address_is_one_address_to_everybody_or_it_is_refused():
    @try_hard(20, long=400)
    @given(ADDRESSES, ADDRESSES)
    def fuzz(address: str, other: str) -> None:
        tally["return addresses"] += 1
        if not may_register(address):
            return
        parts = urlsplit(address)
        assert address.isascii()
        assert address.isprintable()
        assert not {*' "<>\\^`{|}#'} & {*address}
        assert (parts.scheme == "https") or is_loopback(address)
        assert host_of(address).strip("[]") == parts.hostname
        assert parts.username is parts.password is None
        assert not {*" ;,'"} & {*policy_source(address)}
        # The answer is added to its query, and to nothing else of it.
        sent = add_answer(address, ANSWER)
        assert urlsplit(sent)[:3] == parts[:3]
        assert parse_qsl(urlsplit(sent).query, keep_blank_values=True) == [
            *parse_qsl(parts.query, keep_blank_values=True),
            *ANSWER,
        ]
        if is_registered(other, [address]):
            assert other == address or (is_loopback(other) and parts.port is None)

    fuzz()


def test_a_clients_metadata_is_kept_as_it_can_be_shown_or_it_is_refused():
    metadata = {
        "client_name": "Ledger agent",
        "redirect_uris": ["https://client.example/callback", "http://localhost/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }

    @try_hard(20, long=400)
    @given(spoilt(metadata))
    def fuzz(value: Any) -> None:
        tally["client metadata"] += 1
        if not isinstance(value, dict):
            return
        try:
            read = read_metadata(value)
        except InvalidMetadataError:
            return
        assert 0 < len(read.name) <= NAME_LENGTH
        assert all(map(may_register, read.return_addresses))
        assert all(each in value["redirect_uris"] for each in read.return_addresses)

    fuzz()


def test_a_cleaned_name_is_printable_and_stays_as_it_is():
    @try_hard(20, long=400)
    @given(st.text(st.characters(exclude_categories=()), max_size=200) | ODD_TEXTS)
    def fuzz(text: str) -> None:
        tally["names"] += 1
        name = clean_name(text)
        assert name.isprintable()
        assert name == name.strip()
        assert len(name) <= NAME_LENGTH
        assert clean_name(name) == name
        name.encode()

    fuzz()


SPECIAL = [*map(ipaddress.ip_network, ("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16"))]
SPECIAL += [*map(ipaddress.ip_network, ("172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))]
SPECIAL += [*map(ipaddress.ip_network, ("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4"))]
SPECIAL_ADDRESSES = st.sampled_from(SPECIAL).flatmap(
    lambda network: st.integers(0, network.num_addresses - 1).map(
        lambda number: ipaddress.IPv4Address(int(network.network_address) + number)
    )
)
# How an IPv4 address stands in one of IPv6: mapped, NAT64, compatible, 6to4, ISATAP, translated.
EMBEDDINGS = (
    lambda ip: f"::ffff:{ip}",
    lambda ip: str(NAT64[int(ip)]),
    lambda ip: f"::{ip}",
    lambda ip: str(ipaddress.IPv6Address((0x2002 << 112) + (int(ip) << 80))),
    lambda ip: str(ipaddress.IPv6Address((0xFE80 << 112) + (0x5EFE << 32) + int(ip))),
    lambda ip: f"::ffff:0:{ip}",
    str,
)


def test_no_private_address_is_public_however_it_is_embedded():
    @try_hard(20, long=400)
    @given(SPECIAL_ADDRESSES, st.sampled_from(EMBEDDINGS), st.ip_addresses(v=6))
    def fuzz(private: Any, embed: Any, six: ipaddress.IPv6Address) -> None:
        tally["network addresses"] += 1
        assert not is_public(embed(private))
        if is_public(str(six)):
            assert six.is_global
            assert not six.is_private

    fuzz()


def test_basic_names_a_client_and_adds_nothing_else_to_a_form():
    form = "grant_type=refresh_token&refresh_token=ivr_a&client_id=b"

    @try_hard(20, long=400)
    @given(
        ODD_TEXTS | st.sampled_from(["b:", "b:secret", "b&scope=x:", "%62:", "a:b:", ":"]),
        st.data(),
    )
    def fuzz(credentials: str, data: st.DataObject) -> None:
        tally["HTTP Basic"] += 1
        raw = base64.b64encode(credentials.encode(errors="surrogatepass"))
        if data.draw(st.booleans()):
            raw = data.draw(spoilt_bytes(raw))
        header = f"Basic {raw.decode('latin-1')}"
        request = RequestFactory().post("/oauth/token", headers={"authorization": header})
        read = parse_qsl(name_client(form, request))
        assert [each for each in read if each[0] != "client_id"] == parse_qsl(form)[:2]
        assert dict(read).get("client_id", "b") == "b"

    fuzz()


def subscription() -> dict[str, Any]:
    point = generate_private_key(SECP256R1()).public_key()
    raw = point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    keys = {"p256dh": encode(raw), "auth": encode(bytes(16))}
    return {"endpoint": "https://push.example/send/a", "expirationTime": None, "keys": keys}


def test_a_push_subscription_is_one_that_can_be_sent_to_or_it_is_refused():
    whole = subscription()
    endpoints = ADDRESSES.map(lambda address: whole | {"endpoint": address})

    @try_hard(20, long=400)
    @given(spoilt(whole) | endpoints)
    def fuzz(value: Any) -> None:
        tally["push subscriptions"] += 1
        try:
            read = read_subscription(value)
        except DeviceError:
            return
        assert read.endpoint.startswith("https://") or read.endpoint[:8].lower() == "https://"
        assert read.endpoint.isascii()
        assert read.endpoint.isprintable()
        assert urlsplit(read.endpoint).username is None
        assert (len(read.p256dh), len(read.auth)) == (65, 16)

    fuzz()


def test_what_a_browser_says_of_a_passkey_is_read_strictly_or_refused():
    sent = json.loads(SoftPasskey().sign(b"challenge"))
    members = ("clientDataJSON", "authenticatorData", "signature")

    @try_hard(20, long=400)
    @given(spoilt(sent), st.data())
    def fuzz(value: Any, data: st.DataObject) -> None:
        tally["passkeys, as text"] += 1
        text = write(value, ascii_only=data.draw(st.booleans()))
        if data.draw(st.booleans()):
            text = data.draw(spoilt_bytes(text))
        try:
            read = read_credential(text.decode(errors="replace"), *members)
            digest = challenge_digest(read["response"]["clientDataJSON"])
        except MadeUpError:
            return
        assert bytes.fromhex(digest) == decode(
            json.loads(decode(read["response"]["clientDataJSON"]))["challenge"]
        )
        assert set(read["response"]) == set(members)

    fuzz()
