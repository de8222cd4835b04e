"""When the limits cannot be counted nobody is let in, and nothing is lost."""

import signal

import pytest
from django.core.cache.backends.dummy import DummyCache
from django.test import override_settings
from typing_extensions import override

from agent_access.models import AuditEvent
from tests.snapshots import take_snapshot


class GoneCache(DummyCache):
    """A cache whose server cannot be reached."""

    @override
    def add(self, *args: object, **options: object) -> bool:
        raise ConnectionError("redis://:secret@cache.internal:6379")


class ForgetfulCache(DummyCache):
    """A cache that fails as memcached does: without a word."""

    @override
    def add(self, *args: object, **options: object) -> bool:
        return False

    @override
    def incr(self, *args: object, **options: object) -> int:
        raise ValueError("no such key")


def assert_unavailable(agent, draft_body) -> None:
    before, events = take_snapshot(), AuditEvent.objects.count()
    for answer in (agent.call("tools.list"), agent.call("drafts.create", draft_body, key="one")):
        assert (answer.status, answer.code) == (503, "unavailable")
        assert b"cache" not in answer.content
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


@pytest.mark.usefixtures("as_in_production")
@pytest.mark.requirement("error.unavailable")
@pytest.mark.parametrize("cache", [GoneCache, ForgetfulCache])
def test_a_cache_that_is_gone_never_opens_the_doors(agent, draft_body, settings, cache):
    broken = {"default": {"BACKEND": f"{__name__}.{cache.__name__}"}}
    with override_settings(CACHES=broken):
        assert_unavailable(agent, draft_body)
    assert agent.call("drafts.create", draft_body, key="one").status == 201


@pytest.mark.usefixtures("as_in_production")
@pytest.mark.requirement("error.unavailable")
def test_a_shared_cache_that_hangs_never_opens_the_doors(agent, draft_body, shared_cache):
    """Nor one that stops in the middle."""
    assert agent.call("tools.list").status == 200
    shared_cache._process.send_signal(signal.SIGSTOP)
    try:
        assert agent.call("tools.list").status == 503
    finally:
        shared_cache._process.send_signal(signal.SIGCONT)
    shared_cache.stop()
    assert_unavailable(agent, draft_body)
