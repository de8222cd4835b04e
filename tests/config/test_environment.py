import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import (
    PROJECT_FOLDER,
    Environment,
    find_misspelt,
    read_environment,
    split_keys,
)
from tests.environment import SETTINGS

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

KEY = "the-key-of-this-installation-0123456789-0123456789-0"
ADDRESS = "BASE_URL must be https, a host and perhaps a port, such as https://invoices.example."
DATABASE = "DATABASE_URL must be a postgresql:// or sqlite:/// address that names a database."
CACHE = "CACHE_URL must be a redis:// or rediss:// address (Valkey speaks it too)."
ESCAPE = (
    "{} has a sign that must be escaped in a name or a password: write / as %2F, # as %23, ? as"
    " %3F, @ as %40, [ as %5B and ] as %5D."
)
NO_HOST = "{} names a host that cannot be one: look for two dots in a row."
UNKNOWN_OPTION = "DATABASE_URL has an option after the database's name that PostgreSQL has not."
OPTION = "CACHE_URL names a database that is no number, or a wrong option, after the host."
LOG = "LOG_FORMAT must be 'text' or 'json'."
METRICS = "METRICS_ADDRESS must be an IP address and a port, such as 127.0.0.1:9100."
STRONG = (
    "a random text of at least 50 characters, such as"
    ' python3 -c "import secrets; print(secrets.token_urlsafe(48))" prints.'
)
MISSING_KEY = f"SECRET_KEY is missing: set it to {STRONG}"
WEAK_KEY = f"SECRET_KEY must be {STRONG}"
WEAK_FORMER_KEY = f"SECRET_KEY_FALLBACKS must be former keys with commas between, each {STRONG}"

WRONG_SETTINGS = [
    ("BASE_URL", "", ADDRESS),
    ("BASE_URL", "http://invoices.example", ADDRESS),
    ("BASE_URL", "invoices.example", ADDRESS),
    ("BASE_URL", "https://", ADDRESS),
    ("BASE_URL", "https://invoices.example/app", ADDRESS),
    ("BASE_URL", "https://invoices.example?x=1", ADDRESS),
    ("BASE_URL", "https://invoices.example#top", ADDRESS),
    ("BASE_URL", "https://someone:hunter2@invoices.example", ADDRESS),
    ("BASE_URL", "https://invoices .example", ADDRESS),
    ("BASE_URL", "https://invoices.example\n", ADDRESS),
    ("BASE_URL", "https://-invoices.example", ADDRESS),
    ("BASE_URL", "https://rechnungen-für.example", ADDRESS),
    ("BASE_URL", "https://invoices.example:", ADDRESS),
    ("BASE_URL", "https://invoices.example:0", ADDRESS),
    ("BASE_URL", "https://invoices.example:65536", ADDRESS),
    ("BASE_URL", "https://invoices.example:https", ADDRESS),
    ("BASE_URL", "https://[::zz]", ADDRESS),
    ("BASE_URL", "https://invoices.example:" + "9" * 5000, ADDRESS),
    ("SECRET_KEY", "", WEAK_KEY),
    ("SECRET_KEY", KEY[:49], WEAK_KEY),
    ("SECRET_KEY", "abcd" * 20, WEAK_KEY),
    ("SECRET_KEY", f"django-insecure-{KEY}", WEAK_KEY),
    ("SECRET_KEY", "\udcff" * 40, "SECRET_KEY must be text in UTF-8."),
    (
        "SECRET_KEY",
        f"{KEY},",
        "SECRET_KEY must have no comma, since commas separate former keys.",
    ),
    ("SECRET_KEY_FALLBACKS", "\udcff" * 40, "SECRET_KEY_FALLBACKS must be text in UTF-8."),
    ("SECRET_KEY_FALLBACKS", f"{KEY},short", WEAK_FORMER_KEY),
    ("SECRET_KEY_FALLBACKS", f"{KEY},{KEY[:49]}", WEAK_FORMER_KEY),
    ("DATABASE_URL", "", DATABASE),
    ("DATABASE_URL", "mysql://invoices:hunter2@db.example/invoices", DATABASE),
    ("DATABASE_URL", "postgresql://invoices:hunter2@db.example", DATABASE),
    ("DATABASE_URL", "postgresql://invoices:hunter2@db.example:port/invoices", DATABASE),
    ("DATABASE_URL", "postgresql://invoices:hunter2@[db.example/invoices", DATABASE),
    *(
        (
            "DATABASE_URL",
            f"postgresql://invoices:{typed}@db.example/invoices",
            ESCAPE.format("DATABASE_URL"),
        )
        for typed in ("12/ter", "12#ter", "12?ter", "12[ter", "12]ter", "h/@er")
    ),
    ("DATABASE_URL", "postgresql://db..example/invoices", NO_HOST.format("DATABASE_URL")),
    ("DATABASE_URL", "postgresql://db.example,db..example/i", NO_HOST.format("DATABASE_URL")),
    ("DATABASE_URL", "postgresql://db.example/invoices?ssl_mode=require", UNKNOWN_OPTION),
    (
        "DATABASE_URL",
        f"postgresql://db.example/{'i' * 64}",
        "DATABASE_URL names a database with more than 63 characters.",
    ),
    ("DATABASE_URL", "sqlite:////srv/books#1.sqlite3", ESCAPE.format("DATABASE_URL")),
    ("DATABASE_URL", "sqlite:///", DATABASE),
    ("DATABASE_URL", "sqlite:///:memory:", DATABASE),
    ("DATABASE_URL", "sqlite://:memory:", DATABASE),
    (
        "DATABASE_URL",
        "postgresql://invoices:\udcff@db.example/invoices",
        "DATABASE_URL must be text in UTF-8.",
    ),
    ("CACHE_URL", "memcached://cache.example", CACHE),
    ("CACHE_URL", "redis://", CACHE),
    ("CACHE_URL", "redis://:hunter2@[cache.example", CACHE),
    ("CACHE_URL", "redis://:hunter2@cache.example:port", CACHE),
    *(
        ("CACHE_URL", f"redis://:{typed}@cache.example/0", ESCAPE.format("CACHE_URL"))
        for typed in ("12/ter", "12#ter", "12?ter", "12[ter", "12]ter", "h/@er")
    ),
    ("CACHE_URL", "redis://cache..example/0", NO_HOST.format("CACHE_URL")),
    ("CACHE_URL", "redis://cache.example/first", OPTION),
    ("CACHE_URL", "redis://cache.example/0/1", OPTION),
    ("CACHE_URL", "redis://cache.example/0?patience=5", OPTION),
    ("CACHE_URL", "redis://cache.example/0?socket_timeout=long", OPTION),
    ("CACHE_URL", "rediss://cache.example/0?ssl_cert_reqs=CERT_NONE", OPTION),
    ("CACHE_URL", "redis://cache.example/0?retry=3", OPTION),
    ("CACHE_URL", "redis://cache.example/0?cache_config=3", OPTION),
    ("CACHE_URL", "redis://:\udcff@cache.example", "CACHE_URL must be text in UTF-8."),
    ("DEMO_MODE", "", "DEMO_MODE must be on or off."),
    ("DEMO_MODE", "perhaps", "DEMO_MODE must be on or off."),
    ("TRUSTED_PROXIES", "one", "TRUSTED_PROXIES must be a whole number."),
    ("TRUSTED_PROXIES", "1.5", "TRUSTED_PROXIES must be a whole number."),
    ("TRUSTED_PROXIES", "-1", "TRUSTED_PROXIES must be at least 0."),
    ("TRUSTED_PROXIES", "11", "TRUSTED_PROXIES must be at most 10."),
    ("LIMIT_PER_CONNECTION", "0", "LIMIT_PER_CONNECTION must be at least 1."),
    ("LIMIT_PER_CONNECTION", "1000001", "LIMIT_PER_CONNECTION must be at most 1000000."),
    ("LIMIT_PER_ADDRESS", "", "LIMIT_PER_ADDRESS must be a whole number."),
    (
        "LIMIT_PER_ADDRESS",
        "9" * 5000,
        "LIMIT_PER_ADDRESS must be a whole number of ordinary size.",
    ),
    ("LOG_FORMAT", "", LOG),
    ("LOG_FORMAT", "JSON", LOG),
    ("METRICS_ADDRESS", "9100", METRICS),
    ("METRICS_ADDRESS", ":9100", METRICS),
    ("METRICS_ADDRESS", "127.0.0.1", METRICS),
    ("METRICS_ADDRESS", "127.0.0.1:0", METRICS),
    ("METRICS_ADDRESS", "127.0.0.1:65536", METRICS),
    ("METRICS_ADDRESS", "127.0.0.1:http", METRICS),
    ("METRICS_ADDRESS", "127.0.0.1:" + "9" * 5000, METRICS),
    ("METRICS_ADDRESS", "127.0.0:9100", METRICS),
    ("METRICS_ADDRESS", "::1:9100", METRICS),
    ("METRICS_ADDRESS", "[127.0.0.1]:9100", METRICS),
    ("METRICS_ADDRESS", "[::1:9100", METRICS),
    ("METRICS_ADDRESS", "metrics.internal:9100", METRICS),
]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing about this installation."""
    for name in Environment.model_fields:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def quickstart_file(tmp_path: Path) -> Path:
    return tmp_path / "quickstart.env"


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("name", "value", "sentence"), WRONG_SETTINGS)
def test_a_wrong_value_is_refused_with_one_sentence(
    monkeypatch, quickstart_file, name, value, sentence
) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == sentence
    assert refusal.value.__suppress_context__  # the cause would show the value in a traceback


@pytest.mark.usefixtures("bare")
def test_a_missing_secret_key_is_refused(quickstart_file) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == MISSING_KEY


@pytest.mark.usefixtures("bare")
def test_a_secret_key_is_all_that_must_be_set(monkeypatch, quickstart_file) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    environment = read_environment(quickstart_file)
    assert environment.model_dump(exclude={"SECRET_KEY"}) == {
        "BASE_URL": "https://localhost:8443",
        "SECRET_KEY_FALLBACKS": Environment.model_fields["SECRET_KEY_FALLBACKS"].default,
        "DATABASE_URL": f"sqlite:///{PROJECT_FOLDER}/var/invoicing.sqlite3",
        "CACHE_URL": "",
        "DEMO_MODE": False,
        "TRUSTED_PROXIES": 0,
        "LIMIT_PER_CONNECTION": 60,
        "LIMIT_PER_ADDRESS": 60,
        "LIMIT_REGISTER": 10,
        "LIMIT_TOKEN": 30,
        "LOG_FORMAT": "text",
        "METRICS_ADDRESS": "",
    }
    assert environment.SECRET_KEY.get_secret_value() == KEY
    assert split_keys(environment.SECRET_KEY_FALLBACKS) == []


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("host", ["invoices.example", "10.0.0.7:8443", "[2001:db8::1]"])
def test_a_service_for_others_never_falls_back_to_a_database_of_its_own(
    monkeypatch, quickstart_file, host
) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("BASE_URL", f"https://{host}")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == (
        "DATABASE_URL is missing: name the database, since BASE_URL is not this machine, such as"
        " postgresql://user:password@host/name."
    )
    monkeypatch.setenv("DATABASE_URL", "sqlite:////srv/books.sqlite3")
    assert read_environment(quickstart_file).DATABASE_URL == "sqlite:////srv/books.sqlite3"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://invoices.example", "https://invoices.example"),
        ("HTTPS://Invoices.EXAMPLE:443/", "https://invoices.example"),
        ("https://invoices.example:08443", "https://invoices.example:8443"),
        ("https://127.0.0.1:8443", "https://127.0.0.1:8443"),
        ("https://[0:0::1]:8443", "https://[::1]:8443"),
    ],
)
def test_the_application_url_has_one_form(monkeypatch, quickstart_file, written, read) -> None:
    monkeypatch.setenv("BASE_URL", written)
    assert read == read_environment(quickstart_file).BASE_URL


@pytest.mark.parametrize("address", ["127.0.0.1:9100", "[::1]:9100", "0.0.0.0:1"])
def test_metrics_are_told_at_an_ip_address_and_a_port(
    monkeypatch, quickstart_file, address
) -> None:
    monkeypatch.setenv("METRICS_ADDRESS", address)
    assert address == read_environment(quickstart_file).METRICS_ADDRESS


@pytest.mark.parametrize(
    ("word", "on"), [("on", True), ("true", True), ("1", True), ("off", False), ("0", False)]
)
def test_demo_mode_is_on_or_off(monkeypatch, quickstart_file, word, on) -> None:
    monkeypatch.setenv("DEMO_MODE", word)
    assert read_environment(quickstart_file).DEMO_MODE is on


@pytest.mark.parametrize(
    "address",
    [
        "redis://cache.example",
        "redis://:hunter2@cache.example:6379/0",
        "rediss://invoices:hunter2@cache.example/1?ssl_cert_reqs=required&socket_timeout=2",
    ],
)
def test_a_cache_may_have_a_database_and_options(monkeypatch, quickstart_file, address) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("CACHE_URL", address)
    assert address == read_environment(quickstart_file).CACHE_URL


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://invoices:p@ss:w%2Frd@db.example:5432/invoices?sslmode=verify-full",
        "postgresql://invoices@/invoices?host=db1,db2&target_session_attrs=any",
        "postgresql://postgres@%2Ftmp%2Fpostgresql/invoices",
        "sqlite:////srv/books@home.sqlite3",
    ],
)
def test_a_database_may_have_an_escaped_password_and_options(
    monkeypatch, quickstart_file, address
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    assert address == read_environment(quickstart_file).DATABASE_URL


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["BASEURL"], {"BASEURL": "BASE_URL"}),
        (["base_url"], {"base_url": "BASE_URL"}),
        (["LIMIT_PER_CONECTION"], {"LIMIT_PER_CONECTION": "LIMIT_PER_CONNECTION"}),
        (["TRUSTED_PROXY", "PATH"], {"TRUSTED_PROXY": "TRUSTED_PROXIES"}),
        (["DATABASE_URI"], {"DATABASE_URI": "DATABASE_URL"}),
        (["PROMETHEUS_MULTI_PROC_DIR"], {"PROMETHEUS_MULTI_PROC_DIR": "PROMETHEUS_MULTIPROC_DIR"}),
        (["BASEURL", "BASE_URL"], {}),
        (["DATABASE_NAME", "LOG_LEVEL", "REDIS_URL", "SECRET_KEY_BASE", "CACHE_TTL"], {}),
    ],
)
def test_a_name_that_is_nearly_one_of_ours_is_found(names, found) -> None:
    assert find_misspelt(names) == found


def test_former_secret_keys_stand_with_commas_between(monkeypatch, quickstart_file) -> None:
    older, oldest = KEY[::-1], f"{KEY}-oldest"
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", f"{older}, {oldest}")
    assert split_keys(read_environment(quickstart_file).SECRET_KEY_FALLBACKS) == [older, oldest]


@pytest.mark.usefixtures("bare")
def test_the_quickstarts_file_is_read_below_the_environment(monkeypatch, quickstart_file) -> None:
    quickstart_file.write_text(
        f"SECRET_KEY={KEY}\nBASE_URL=https://localhost:9443\n", encoding="utf-8"
    )
    assert read_environment(quickstart_file).SECRET_KEY.get_secret_value() == KEY
    assert read_environment(quickstart_file).BASE_URL == "https://localhost:9443"
    monkeypatch.setenv("BASE_URL", "https://localhost:7443")
    assert read_environment(quickstart_file).BASE_URL == "https://localhost:7443"


@pytest.mark.usefixtures("bare")
def test_a_service_for_others_takes_nothing_from_the_quickstarts_file(
    monkeypatch, quickstart_file
) -> None:
    quickstart_file.write_text(f"SECRET_KEY={KEY}\n", encoding="utf-8")
    monkeypatch.setenv("BASE_URL", "https://invoices.example")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == MISSING_KEY
    quickstart_file.write_bytes(b"SECRET_KEY=\xff\xfe")
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example/invoices")
    assert read_environment(quickstart_file).BASE_URL == "https://invoices.example"


@pytest.mark.usefixtures("bare")
def test_an_unreadable_quickstart_file_is_told_in_one_sentence(quickstart_file) -> None:
    quickstart_file.write_bytes(b"SECRET_KEY=\xff\xfe")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == f"{quickstart_file} cannot be read."


def test_no_secret_shows_in_the_environments_text(monkeypatch, quickstart_file) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", KEY[::-1])
    monkeypatch.setenv("DATABASE_URL", "postgresql://invoices:hunter2@db.example/invoices")
    monkeypatch.setenv("CACHE_URL", "redis://:hunter2@cache.example")
    shown = repr(read_environment(quickstart_file))
    assert [secret for secret in (KEY, KEY[::-1], "hunter2") if secret in shown] == []


def test_a_test_run_sets_every_variable_so_that_none_leaks_in() -> None:
    assert sorted([*SETTINGS, "DATABASE_URL"]) == sorted(Environment.model_fields)


@pytest.mark.parametrize("command", ["check", "migrate", "makemigrations"])
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SECRET_KEY", "hunter2", WEAK_KEY),
        ("DATABASE_URL", "mysql://invoices:hunter2@db.example/invoices", DATABASE),
    ],
)
def test_a_wrong_value_stops_every_command(command, name, value, sentence) -> None:
    done = subprocess.run(  # noqa: S603  our own command
        [sys.executable, "manage.py", command],
        cwd=PROJECT_FOLDER,
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Wrong setting: {sentence}\n")


def test_the_settings_that_a_command_names_are_its_settings(tmp_path) -> None:
    (tmp_path / "other_settings.py").write_text(
        "from config.settings import *\nSTATIC_URL = '/other/'\n"
    )
    done = subprocess.run(  # noqa: S603  our own command
        [
            *(sys.executable, "manage.py", "diffsettings"),
            *("--settings", "other_settings", "--pythonpath", str(tmp_path)),
        ],
        cwd=PROJECT_FOLDER,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "STATIC_URL = '/other/'" in done.stdout
