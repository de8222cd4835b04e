"""The browsers that a person adds: what is taken, kept and forgotten."""

import hashlib
from datetime import time

import pytest

from agent_access.telling.devices import (
    DeviceError,
    add_device,
    forget_device,
    reseal_devices,
    unseal_subscription,
)
from agent_access.telling.models import Device, Problem
from agent_access.telling.preferences import QuietHoursError, save_preferences
from tests.snapshots import take_snapshot
from tests.telling.push_service import encode
from tests.telling.questions import ask

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


NEW_KEY = "another-key-for-tests-which-guards-nothing-at-all-either"


def test_of_a_browser_nothing_is_kept_in_the_clear_but_its_service_and_its_name(delegate, browser):
    device = Device.objects.get()
    assert (device.person, device.service, device.name) == (delegate, "push.example", "Firefox")
    assert device.endpoint_digest == hashlib.sha256(browser.endpoint.encode()).hexdigest()
    row = str(Device.objects.values().get())
    keys = browser.subscription["keys"].values()
    assert not any(secret in row for secret in (browser.path, *keys))
    assert unseal_subscription(device.sealed).endpoint == browser.endpoint
    assert "/send/" not in repr(unseal_subscription(device.sealed))


POINT = encode(b"\x04" + b"\x01" * 64)


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://push.example/1"},
        {"endpoint": "https://user@push.example/1"},
        {"endpoint": "https://push.example/1#place"},
        {"endpoint": "https://push.example/a b"},
        {"endpoint": "https://push.example/\r\nX: y"},
        {"endpoint": "https://[::1]/1"},
        {"endpoint": "https://pu\u017fh.example/1"},
        {"endpoint": "http\u017f://push.example/1"},
        {"endpoint": "https://push.example/" + "x" * 1000},
        {"endpoint": "https://" + "x" * 300 + ".example/"},
        {"endpoint": None},
        {"keys": {}},
        {"keys": None},
        {"keys": {"p256dh": POINT, "auth": encode(b"a" * 16)}},  # on no curve
        {"keys": {"p256dh": "%%", "auth": "%%"}},
    ],
)
def test_a_browser_that_nothing_can_be_sent_to_is_refused(delegate, browser, change):
    before = take_snapshot()
    with pytest.raises(DeviceError) as refusal:
        add_device(delegate, browser.subscription | change, name="x")
    assert refusal.value.told() == (
        "This browser gave no address to which notifications can be sent."
    )
    assert take_snapshot() == before


@pytest.mark.parametrize("length", [15, 17])
def test_a_secret_of_another_length_is_refused(delegate, browser, length):
    keys = browser.subscription["keys"] | {"auth": encode(b"a" * length)}
    with pytest.raises(DeviceError):
        add_device(delegate, browser.subscription | {"keys": keys}, name="x")


def test_ten_browsers_are_the_most_and_the_same_one_again_is_none_more(delegate, subscribe):
    browsers = [subscribe(delegate) for _ in range(10)]
    with pytest.raises(DeviceError, match="at most 10 browsers"):
        subscribe(delegate)
    add_device(delegate, browsers[0].subscription, name="Renamed")
    assert Device.objects.count() == 10
    assert Device.objects.filter(name="Renamed").count() == 1


def test_a_browser_belongs_to_whoever_added_it_last(
    delegate, colleague, browser, deliver, push_service, riddles
):
    """What waits for the person before is not shown to the next one at that browser."""
    ask(delegate)
    push_service.reply = lambda stream: stream.sendall(b"HTTP/1.1 503 Busy\r\n\r\n")
    deliver()
    add_device(colleague, browser.subscription, name="Firefox")
    assert Device.objects.get().person == colleague
    deliver()
    assert len(push_service.requests) == 1


def test_only_the_person_forgets_their_browser(delegate, colleague, browser):
    [device] = Device.objects.all()
    forget_device(colleague, device.pk)
    assert Device.objects.count() == 1
    forget_device(delegate, device.pk)
    assert Device.objects.count() == 0


def test_a_browser_outlives_the_change_of_the_key(delegate, browser, settings):
    former = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW_KEY, [former]
    reseal_devices()
    settings.SECRET_KEY_FALLBACKS = []
    assert unseal_subscription(Device.objects.get().sealed).endpoint == browser.endpoint


def test_one_whose_key_is_gone_must_be_added_again(
    delegate, browser, settings, deliver, push_service, riddles
):
    settings.SECRET_KEY = NEW_KEY
    ask(delegate)
    deliver()
    assert push_service.requests == []
    assert Device.objects.get().problem == Problem.UNREADABLE


def test_quiet_hours_have_a_beginning_and_another_end(delegate):
    before = take_snapshot()
    for start, end in ((time(22), None), (None, time(7)), (time(7), time(7))):
        with pytest.raises(QuietHoursError):
            save_preferences(
                delegate, by_mail=True, shows_details=True, quiet_from=start, quiet_until=end
            )
    assert take_snapshot() == before
