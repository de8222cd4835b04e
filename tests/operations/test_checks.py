"""`manage.py check --deploy`: silent for a sound installation, a word for a dangerous one."""

import json
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from agent_access.database import schema
from agent_access.database.schema import predates_squash
from config.operations import checks
from tests.programs import run_python

SQUASHED = "0001_squashed_0010_fewer_indexes"
SOUND = {
    "BASE_URL": "https://invoices.example",
    "SECRET_KEY": "1A-long-and-random-text-of-many-different-characters-0123456789",
    "SECRET_KEY_FALLBACKS": "",
    "DATABASE_URL": "postgresql://invoicing_service@database.internal/invoicing",
    "CACHE_URL": "redis://cache.internal:6379/0",
    "TRUSTED_PROXIES": "1",
    "METRICS_ADDRESS": "127.0.0.1:9100",
    "WEB_PUSH_KEY": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
    "EMAIL_URL": "smtp://mail.internal",
    "EMAIL_FROM": "invoices@company.example",
}

# By the setting: its value, and what is said of it. One process looks at several at once.
DANGERS = {
    "CACHE_URL": ("", ["agent_access.W002"]),
    "TRUSTED_PROXIES": ("0", ["operations.I001"]),
    "METRICS_ADDRESS": ("0.0.0.0:9100", ["operations.W002"]),
    "WEB_PUSH_KEY": ("", ["operations.I002"]),
    "EMAIL_URL": ("", ["operations.I003"]),
}
# These are told of fewer things than a service for everybody.
DATABASE_IN_A_FILE = {
    "DATABASE_URL": ("sqlite:////var/lib/invoicing.sqlite3", ["operations.W001"]),
}
ONE_MACHINE = {"BASE_URL": ("https://localhost", ["operations.W005", "operations.W003"])}

# Says what was found, by ID, in the order in which it is shown.
CHECK = """
import json
import django
django.setup()
from django.core.checks import run_checks
found = run_checks(include_deployment_checks=True)
print(json.dumps([message.id for message in found if not message.is_silenced()]))
"""


def check(**changes: str) -> list[str]:
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings", **SOUND, **changes}
    done = run_python("-c", CHECK, settings=settings)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.sqlite
def test_a_sound_installation_has_nothing_to_mend():
    assert check() == []


@pytest.mark.sqlite
@pytest.mark.parametrize("dangers", [DANGERS, DATABASE_IN_A_FILE, ONE_MACHINE])
def test_a_dangerous_setting_is_found(dangers):
    told = [each for _, found in dangers.values() for each in found]
    found = check(**{name: value for name, (value, _) in dangers.items()})
    assert sorted(found) == sorted(told)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("", []),
        ("127.0.0.1:9100", []),
        ("[::1]:9100", []),
        ("10.0.0.5:9100", []),
        ("[fd00::5]:9100", []),
        ("0.0.0.0:9100", ["operations.W002"]),
        ("[::]:9100", ["operations.W002"]),
        ("93.184.216.34:9100", ["operations.W002"]),
        ("[2606:4700::1]:9100", ["operations.W002"]),
    ],
)
def test_metrics_for_everybody_are_found(settings, address, found):
    settings.METRICS_ADDRESS = address
    assert [each.id for each in checks.check_metrics()] == found


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_role_that_owns_the_tables_is_found():
    # The tests' own role is a superuser.
    assert [each.id for each in checks.check_role(databases=["default"])] == ["operations.W004"]


@pytest.mark.postgresql
@pytest.mark.django_db
@pytest.mark.parametrize(
    "more",
    [
        "TRUNCATE ON agent_access_auditevent",
        "TRIGGER ON invoices_document",
        "CREATE ON SCHEMA public",
        "TEMPORARY ON DATABASE {database}",
    ],
)
def test_a_role_with_nothing_but_rows_is_sound_and_one_with_more_is_found(more):
    with connection.cursor() as cursor:
        database = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        cursor.execute("CREATE ROLE checked_service")
        cursor.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO checked_service"
        )
        cursor.execute("SET LOCAL ROLE checked_service")
        assert checks.check_role(databases=["default"]) == []
        cursor.execute("RESET ROLE")
        cursor.execute(f"GRANT {more.format(database=database)} TO checked_service")
        cursor.execute("SET LOCAL ROLE checked_service")
        assert [each.id for each in checks.check_role(databases=["default"])] == ["operations.W004"]


def test_a_role_is_asked_for_only_of_a_database_that_has_roles(db):
    assert checks.check_role(databases=None) == []
    if connection.vendor == "sqlite":
        assert checks.check_role(databases=["default"]) == []


@pytest.mark.django_db
def test_a_database_between_two_migrations_that_became_one_is_refused_by_migrate():
    assert found_by_age() == []
    recorded = MigrationRecorder.Migration.objects.filter(app="invoices")
    recorded.filter(name__in=[SQUASHED, "0010_fewer_indexes"]).delete()
    assert found_by_age() == ["operations.E002"]
    with pytest.raises(SystemCheckError, match=r"migrate of commit 7fc2028 first"):
        call_command("migrate", skip_checks=False, verbosity=0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "keep",
    [
        lambda recorded: recorded.none(),
        lambda recorded: recorded.exclude(name=SQUASHED),
        lambda recorded: recorded.filter(name=SQUASHED) | recorded.filter(name__gt="0010_x"),
    ],
    ids=["new", "former", "pruned"],
)
def test_one_that_has_none_or_all_of_them_can_be_migrated(keep):
    recorded = MigrationRecorder.Migration.objects.filter(app="invoices")
    recorded.exclude(pk__in=[each.pk for each in keep(recorded)]).delete()
    assert found_by_age() == []


def test_a_later_migration_in_place_of_several_is_left_to_django(monkeypatch):
    """So is a first one whose parts are still there: Django goes on from either."""
    first = ("one", "0001_initial")
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda _: {first})
    for initial, parts in (
        (False, [("one", "0002_a"), ("one", "0003_b")]),
        (True, [first, ("one", "0002_a")]),
    ):
        squashed = Mock(initial=initial, replaces=parts)
        part = Mock(initial=False, replaces=[])
        known = {("one", "0001_squashed"): squashed, ("one", "0002_a"): part}
        monkeypatch.setattr(schema, "MigrationLoader", lambda _, k=known: Mock(disk_migrations=k))
        assert not predates_squash(connection)


def found_by_age() -> list[str | None]:
    return [each.id for each in checks.check_age(databases=["default"])]
