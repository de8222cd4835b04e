"""The limits per minute: whose bucket is spent, what is told, and when it is full again."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core.cache import cache

from agent_access import throttling
from agent_access.models import AuditEvent
from agent_access.throttling import spend
from tests.agents import HttpAgent

# What is counted is in the cache, and the same whatever the database.
pytestmark = [pytest.mark.usefixtures("_clock_stands_still"), pytest.mark.sqlite]

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def statuses(agent: HttpAgent, count: int, **environ: Any) -> list[int]:
    return [agent.request("GET", "/api/v1/tools", **environ).status for _ in range(count)]


@pytest.mark.requirement("limit.per_connection", "limit.per_address", "error.rate_limited")
@pytest.mark.parametrize("policy", ["CONNECTION", "ADDRESS"])
def test_the_sixty_first_request_of_a_minute_is_refused(agent, settings, policy, time_machine):
    time_machine.move_to(START, tick=False)
    other = "ADDRESS" if policy == "CONNECTION" else "CONNECTION"
    settings.AGENT_ACCESS |= {f"LIMIT_PER_{other}": 1000}
    assert statuses(agent, 62) == [200] * 60 + [429] * 2


@pytest.mark.requirement("error.rate_limited")
@pytest.mark.parametrize("policy", ["CONNECTION", "ADDRESS"])
@pytest.mark.parametrize("milliseconds", [0, 33_999])
def test_the_window_is_over_exactly_when_retry_after_says(
    agent, settings, time_machine, policy, milliseconds
):
    settings.AGENT_ACCESS |= {f"LIMIT_PER_{policy}": 2}
    now = START + timedelta(milliseconds=milliseconds)
    time_machine.move_to(now, tick=False)
    assert statuses(agent, 2) == [200, 200]
    refused = agent.request("GET", "/api/v1/tools")
    assert (refused.status, refused.code) == (429, "rate_limited")
    seconds = int(refused.headers["Retry-After"])
    assert 1 <= seconds <= 60

    time_machine.move_to(now + timedelta(seconds=seconds - 1, milliseconds=-1), tick=False)
    assert statuses(agent, 1) == [429]
    time_machine.move_to(now + timedelta(seconds=seconds), tick=False)
    assert statuses(agent, 3) == [200, 200, 429]


def test_every_answer_tells_what_remains(agent, settings, time_machine):
    time_machine.move_to(START, tick=False)
    settings.AGENT_ACCESS |= {"LIMIT_PER_CONNECTION": 2, "LIMIT_PER_ADDRESS": 3}
    answers = [agent.call("people.get", id="nobody") for _ in range(4)]
    assert [answer.status for answer in answers] == [404, 404, 429, 429]

    address, mine = (
        field.rpartition("=")[2] for field in answers[0].headers["RateLimit"].split(", ")
    )
    assert [answer.headers["RateLimit"] for answer in answers] == [
        f'"address";r=2;t={address}, "connection";r=1;t={mine}',
        f'"address";r=1;t={address}, "connection";r=0;t={mine}',
        f'"address";r=0;t={address}, "connection";r=0;t={mine}',
        f'"address";r=0;t={address}',
    ]
    assert [answer.headers["RateLimit-Policy"] for answer in answers] == [
        '"address";q=3;w=60, "connection";q=2;w=60'
    ] * 3 + ['"address";q=3;w=60']
    assert answers[2].headers["Retry-After"] == mine
    assert answers[3].headers["Retry-After"] == address


@pytest.mark.requirement("limit.per_address")
def test_all_clients_behind_an_address_share_its_bucket(connect, delegate, colleague, settings):
    settings.AGENT_ACCESS |= {"LIMIT_PER_ADDRESS": 3}
    agents = [connect(delegate)[1], connect(colleague)[1], HttpAgent(None), HttpAgent("wrong")]
    assert [statuses(agent, 1)[0] for agent in agents] == [200, 200, 401, 429]
    assert statuses(agents[0], 1, REMOTE_ADDR="192.0.2.7") == [200]


@pytest.mark.requirement("limit.per_connection")
def test_a_connection_has_one_bucket_wherever_it_calls_from(connect, delegate, settings):
    settings.AGENT_ACCESS |= {"LIMIT_PER_CONNECTION": 2}
    (_, first), (_, second) = connect(delegate), connect(delegate)
    addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1"]
    assert [statuses(first, 1, REMOTE_ADDR=each)[0] for each in addresses] == [200, 200, 429]
    assert statuses(second, 2) == [200, 200]


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ("192.0.2.1", "::ffff:192.0.2.1", 429),
        ("192.0.2.1", "192.0.2.2", 401),
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", 429),
        ("2001:db8::1", "2001:db8:0:1::1", 401),
    ],
)
def test_an_address_is_one_however_it_is_written_and_of_ipv6_its_64(
    access_on, settings, one, other, status
):
    settings.AGENT_ACCESS |= {"LIMIT_PER_ADDRESS": 1}
    assert statuses(HttpAgent(None), 1, REMOTE_ADDR=one) == [401]
    assert statuses(HttpAgent(None), 1, REMOTE_ADDR=other) == [status]


def test_behind_a_proxy_each_client_has_its_own_bucket(access_on, settings):
    settings.AGENT_ACCESS |= {"LIMIT_PER_ADDRESS": 1, "TRUSTED_PROXIES": 1}
    seen = ["198.51.100.1", "forged, 198.51.100.2", "198.51.100.9, 198.51.100.1"]
    environs = [{"HTTP_X_FORWARDED_FOR": each, "HTTP_X_FORWARDED_PROTO": "https"} for each in seen]
    assert [statuses(HttpAgent(None), 1, **each)[0] for each in environs] == [401, 401, 429]


def test_a_thousand_other_addresses_are_counted_apart_and_push_no_count_out():
    """In the process's own memory Django would keep 300 entries."""
    addresses = ["192.0.2.1", *(f"198.51.100.{number}" for number in range(1000))]
    assert {spend("address", bucket=each, quota=1).spent for each in addresses} == {1}
    assert spend("address", bucket="192.0.2.1", quota=1).is_exceeded


def test_what_is_refused_before_the_limits_spends_nothing(agent, settings):
    settings.AGENT_ACCESS |= {"LIMIT_PER_ADDRESS": 1}
    agent.request("GET", "/api/v1/tools", headers={"Origin": "null"})
    agent.request("GET", "/api/v1/nowhere")
    agent.request("DELETE", "/api/v1/tools")
    assert statuses(agent, 2) == [200, 429]


def test_an_exceeded_limit_is_one_event_a_window(agent, connection, settings, time_machine):
    settings.AGENT_ACCESS |= {"LIMIT_PER_CONNECTION": 2}
    for moment in (START, START + timedelta(seconds=60)):
        time_machine.move_to(moment, tick=False)
        assert statuses(agent, 5) == [200, 200, 429, 429, 429]
    events = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    told = [("tools.list", each, connection.user_id) for each in ("ok", "ok", "rate_limited")]
    assert list(events.values_list("action", "outcome", "actor_id")) == told * 2


def test_a_full_address_is_no_event_of_the_connection(agent, connection, settings):
    settings.AGENT_ACCESS |= {"LIMIT_PER_ADDRESS": 1}
    assert statuses(agent, 3) == [200, 429, 429]
    assert AuditEvent.objects.filter(chain=str(connection.id)).count() == 1


count = partial(throttling.count, quota=60, seconds=60)


@pytest.mark.parametrize("is_shared", [False, True])
def test_many_at_once_each_get_a_count_of_their_own(request, is_shared):
    if is_shared:
        request.getfixturevalue("shared_cache")
    with ThreadPoolExecutor(16) as threads:
        counted = threads.map(lambda _: count("a", "me")[0], range(400))
    assert sorted(counted) == list(range(1, 401))


def test_a_window_that_ends_while_it_is_counted_in_names_a_second_all_the_same(
    time_machine, monkeypatch
):
    time_machine.move_to(START, tick=False)
    add, (_, left) = cache.add, count("calibration", "me")
    time_machine.move_to(START + timedelta(seconds=left - 1, milliseconds=999), tick=False)

    def add_slowly(*args: Any) -> bool:
        time_machine.shift(2)
        return add(*args)

    monkeypatch.setattr(cache, "add", add_slowly)
    assert count("a", "me") == (1, 1)


@pytest.mark.parametrize("switch", [{"RATELIMIT_ENABLE": False}, {"RATELIMIT_FAIL_OPEN": True}])
def test_no_setting_of_the_library_lets_anybody_in_uncounted(settings, switch, monkeypatch):
    for name, value in switch.items():
        setattr(settings, name, value)
    monkeypatch.setattr(cache, "add", lambda *_: False)
    with pytest.raises(ValueError, match="does not count"):
        count("a", "me")
