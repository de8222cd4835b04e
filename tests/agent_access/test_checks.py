"""What `manage.py check` says of a dangerous project, and what a project sets."""

from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.db.models.signals import pre_migrate
from django.test import override_settings
from django.urls.converters import get_converters

from agent_access import checks, conf
from agent_access.passkeys.checks import check_address
from agent_access.policy import Policy
from invoicing.models import User

GATE = "agent_access.gate.GateMiddleware"
LOCAL = "django.core.cache.backends.locmem.LocMemCache"
IN_DATABASE = "django.core.cache.backends.db.DatabaseCache"
SHARED = "django.core.cache.backends.redis.RedisCache"


def identifiers(messages) -> list[str]:
    return [message.id for message in messages]


@pytest.mark.django_db
def test_the_project_itself_has_nothing_to_mend(settings):
    settings.AGENT_ACCESS |= {"BASE_URL": "https://localhost:8443"}
    assert run_checks(databases=["default"]) == []


@pytest.mark.parametrize(
    "middleware",
    [[], ["django.middleware.common.CommonMiddleware"], ["django.middleware.common.X", GATE]],
    ids=len,
)
def test_a_gate_that_is_not_the_first_layer_is_an_error(settings, middleware):
    settings.MIDDLEWARE = middleware
    assert identifiers(checks.check_gate()) == ["agent_access.E001"]
    with pytest.raises(ImproperlyConfigured) as refusal:
        checks.require_safe_settings()
    assert str(refusal.value) == (
        f"The gate must be the first middleware. Put {GATE} at the beginning of MIDDLEWARE."
    )
    settings.MIDDLEWARE = (GATE, "django.middleware.common.CommonMiddleware")
    assert [*checks.check_gate()] == []


@pytest.mark.parametrize(
    "switch", [{"RATELIMIT_ENABLE": False}, {"RATELIMIT_FAIL_OPEN": True}], ids=str
)
def test_a_setting_that_switches_the_limits_off_is_an_error(settings, switch):
    assert [*checks.check_counting()] == []
    for name, value in switch.items():
        setattr(settings, name, value)
    assert identifiers(checks.check_counting()) == ["agent_access.E008"]
    with pytest.raises(ImproperlyConfigured, match=next(iter(switch))):
        checks.require_safe_settings()


def test_the_cache_that_must_be_shared_is_the_one_that_counts(settings):
    settings.AGENT_ACCESS |= {"BASE_URL": "https://invoices.example"}
    settings.RATELIMIT_USE_CACHE = "counts"
    one, other = {"BACKEND": LOCAL, "LOCATION": ""}, {"BACKEND": SHARED, "LOCATION": ""}
    with override_settings(CACHES={"default": one, "counts": other}):
        assert [*checks.check_cache()] == []
    with override_settings(CACHES={"default": other, "counts": one}):
        assert identifiers(checks.check_cache()) == ["agent_access.W002"]


@pytest.mark.parametrize(
    ("base_url", "backend", "found"),
    [
        ("https://invoices.example", LOCAL, ["agent_access.W002"]),
        ("https://invoices.example", IN_DATABASE, ["agent_access.W002"]),
        ("https://invoices.example", SHARED, []),
        ("https://localhost:8443", LOCAL, []),
        ("https://127.0.0.1:8443", LOCAL, []),
        ("https://[::1]", LOCAL, []),
        ("https://localhost.example", LOCAL, ["agent_access.W002"]),
    ],
)
def test_a_cache_of_one_process_is_a_warning_beyond_this_machine(
    settings, base_url, backend, found
):
    settings.AGENT_ACCESS |= {"BASE_URL": base_url}
    with override_settings(CACHES={"default": {"BACKEND": backend, "LOCATION": ""}}):
        assert identifiers(checks.check_cache()) == found


def test_a_server_says_that_its_limits_hold_for_one_process(settings, caplog):
    settings.AGENT_ACCESS |= {"BASE_URL": "https://invoices.example"}
    checks.require_safe_settings()
    [said] = caplog.messages
    assert said.startswith("The limits hold within one process only")
    settings.AGENT_ACCESS |= {"BASE_URL": "https://localhost:8443"}
    checks.require_safe_settings()
    assert caplog.messages == [said]


def test_what_a_project_leaves_out_is_the_interfaces(settings):
    settings.AGENT_ACCESS = {"BASE_URL": "https://x.example"}
    assert type(conf.policy()) is Policy
    assert (conf.limit_per_connection(), conf.limit_per_address()) == (60, 60)
    assert (conf.trusted_proxies(), conf.raise_unforeseen()) == (0, False)
    assert conf.base_url() == "https://x.example"


def test_what_a_project_must_set_is_named(settings):
    settings.AGENT_ACCESS = {}
    with pytest.raises(ImproperlyConfigured, match="AGENT_ACCESS needs BASE_URL"):
        checks.require_safe_settings()


@pytest.mark.parametrize(
    ("check", "name", "wrong", "found"),
    [
        (checks.check_user, "agent_access.checks.user_key_kind", lambda: None, ["E002"]),
        (
            checks.check_scopes,
            "invoicing.agent_host.InvoicingPolicy.scopes",
            lambda _: {},
            ["E005"] * 5,
        ),
        (checks.check_time_zones, "django.conf.settings.USE_TZ", False, ["E006"]),
    ],
    ids=["a user model with other keys", "scopes without words", "times without a zone"],
)
def test_what_a_project_lacks_is_an_error(monkeypatch, check, name, wrong, found):
    assert [*check()] == []
    monkeypatch.setattr(name, wrong)
    assert identifiers(check()) == [f"agent_access.{each}" for each in found]


SPATIAL = "django.contrib.gis.db.backends.spatialite"


@pytest.mark.parametrize(
    ("vendor", "changes", "found"),
    [
        ("sqlite", {}, []),
        ("sqlite", {"ATOMIC_REQUESTS": True}, []),
        ("sqlite", {"OPTIONS": {}}, ["agent_access.E004"]),
        ("sqlite", {"OPTIONS": {"transaction_mode": "DEFERRED"}}, ["agent_access.E004"]),
        ("sqlite", {"OPTIONS": {"transaction_mode": "exclusive"}}, []),
        ("sqlite", {"ENGINE": SPATIAL, "OPTIONS": {}}, ["agent_access.E004"]),
        ("postgresql", {"OPTIONS": {}}, []),
    ],
)
def test_transactions_that_a_call_cannot_use_are_an_error(monkeypatch, vendor, changes, found):
    database = connections["default"]
    monkeypatch.setattr(type(database), "vendor", vendor)
    options = {"transaction_mode": "IMMEDIATE"}
    for name, value in ({"OPTIONS": options} | changes).items():
        monkeypatch.setitem(database.settings_dict, name, value)
    assert identifiers(checks.check_transactions()) == found


@pytest.mark.parametrize(
    "base_url",
    [
        "https://support.example",
        "https://support.example:8443",
        "https://localhost",
        "https://xn--bcher-kva.example",
        "https://[2001:db8::1]:8443",
    ],
)
def test_an_address_at_which_agents_can_call_is_taken(settings, base_url):
    settings.AGENT_ACCESS |= {"BASE_URL": base_url}
    assert [*checks.check_base_url()] == []


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "http://support.example",
        "support.example",
        "https://",
        "https://:8443",
        "https://support.example/",
        "https://support.example/agents",
        "https://support.example?agents",
        "https://support.example#agents",
        "https://agent@support.example",
        "https://agent:word@support.example",
        "https://support.example:",
        "https://support.example:0",
        "https://support.example:08443",
        "https://support.example:https",
        "https://support.example:443",
        "https://support.example:65536",
        "https://Support.example",
        "https://b\u00fccher.example",
        "https://support.example\n",
    ],
)
def test_an_address_that_no_request_can_have_is_an_error(settings, base_url):
    settings.AGENT_ACCESS |= {"BASE_URL": base_url}
    assert identifiers(checks.check_base_url()) == ["agent_access.E009"]
    with pytest.raises(ImproperlyConfigured, match="BASE_URL is not an address"):
        checks.require_safe_settings()


def test_a_project_that_sets_nothing_is_told_what_it_must_set(settings):
    del settings.AGENT_ACCESS
    assert identifiers(checks.check_base_url()) == ["agent_access.E009"]
    assert [*checks.check_keys()] == []


@pytest.mark.parametrize(
    "caches",
    [{"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}, {}],
    ids=["a dummy", "none"],
)
def test_a_cache_that_counts_nothing_is_an_error(settings, monkeypatch, caches):
    settings.AGENT_ACCESS |= {"BASE_URL": "https://support.example"}
    project = SimpleNamespace(CACHES=caches)
    monkeypatch.setattr("agent_access.checks.settings", project)
    assert identifiers(checks.check_cache()) == ["agent_access.E012"]


def test_a_database_that_agent_access_does_not_know_is_an_error(monkeypatch):
    assert [*checks.check_vendor()] == []
    monkeypatch.setattr(type(connections["default"]), "vendor", "mysql")
    assert identifiers(checks.check_vendor()) == ["agent_access.E010"]


def test_a_database_that_agent_access_does_not_know_is_refused_before_it_is_migrated(monkeypatch):
    monkeypatch.setattr(type(connections["default"]), "vendor", "mysql")
    with pytest.raises(ImproperlyConfigured, match="needs PostgreSQL or SQLite, not mysql"):
        pre_migrate.send(apps.get_app_config("agent_access"), using="default", plan=[])


class Replica:
    """Reads somewhere else than it writes."""

    def db_for_read(self, model: type, **hints: object) -> str | None:
        return "replica"


class Elsewhere:
    """Keeps the users in a database of their own."""

    def db_for_read(self, model: type, **hints: object) -> str | None:
        return "people" if model is User else None

    db_for_write = db_for_read


def test_models_that_are_not_in_the_default_database_are_an_error(settings):
    assert [*checks.check_routers()] == []
    settings.DATABASE_ROUTERS = [f"{__name__}.Elsewhere"]
    [found] = checks.check_routers()
    assert (found.id, found.msg.split()[0]) == ("agent_access.E011", "invoices.User")
    settings.DATABASE_ROUTERS = [f"{__name__}.Replica"]
    told = [each.msg.split()[0] for each in checks.check_routers()]
    ours = [each for each in apps.get_models() if each.__module__.startswith("agent_access.")]
    assert {each._meta.app_label for each in ours} == {
        "agent_access",
        "agent_approvals",
        "agent_oauth",
        "agent_passkeys",
        "agent_telling",
    }
    assert {*(each._meta.label for each in ours), "invoices.User"} <= {*told}


def test_a_misspelt_setting_is_an_error_that_names_the_right_ones(settings):
    assert [*checks.check_keys()] == []
    settings.AGENT_ACCESS |= {"TRUSTED_PROXY": 1}
    (error,) = checks.check_keys()
    assert error.id == "agent_access.E007"
    assert error.msg == "AGENT_ACCESS has an unknown key: TRUSTED_PROXY."
    assert error.hint == (
        "Its keys are BASE_URL, POLICY, GUARDS_WHOLE_SITE, TRUSTED_PROXIES, LIMIT_PER_CONNECTION,"
        " LIMIT_PER_ADDRESS, LIMIT_REGISTER, LIMIT_TOKEN, CACHE_SETTING, WEB_PUSH_KEY, MAIL_FROM,"
        " STAMP_URL, REACHES_LOOPBACK, RAISE_UNFORESEEN."
    )


def test_no_table_asks_for_a_migration_where_a_project_has_another_default_key() -> None:
    ours = [each for each in apps.get_app_configs() if each.name.startswith("agent_access")]
    found = [
        model.__name__
        for app in ours
        for model in app.get_models(include_auto_created=True)
        if model._meta.pk.auto_created and "default_auto_field" not in vars(type(app))
    ]
    assert len(ours) > 3
    assert found == []


def test_users_have_no_accessor_that_a_project_may_have_of_its_own() -> None:
    accessors = [
        (each.related_model._meta, each.get_accessor_name()) for each in User._meta.related_objects
    ]
    ours = [
        (meta.app_label, name)
        for meta, name in accessors
        if meta.app_config.name.startswith("agent_access")
    ]
    assert [name for label, name in ours if not str(name).startswith(f"{label}_")] == []


def test_converters_of_addresses_have_names_that_no_project_would_choose() -> None:
    ours = [
        name
        for name, converter in get_converters().items()
        if type(converter).__module__.startswith("agent_access.")
    ]
    assert sorted(ours) == ["agent_access_id", "agents_resource", "agents_server"]


@pytest.mark.parametrize(
    ("base_url", "found"),
    [
        ("https://invoices.example", []),
        ("https://localhost:8443", []),
        ("https://192.0.2.1", ["agent_passkeys.W002"]),
        ("https://[2001:db8::1]:8443", ["agent_passkeys.W002"]),
        ("http://invoices.example", ["agent_passkeys.W002"]),
        ("http://localhost", []),
    ],
)
def test_an_address_that_cannot_have_passkeys_is_told(settings, base_url, found):
    settings.AGENT_ACCESS |= {"BASE_URL": base_url}
    assert identifiers(check_address()) == found
